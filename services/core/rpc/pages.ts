import { isMessage } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import { isUuid } from './ids.ts';
import { invalidField } from './refuse.ts';

/** Items on a page when the request does not say (AIP-158). */
const DEFAULT_PAGE_SIZE = 50;

/** How a list is ordered: the key of an item, after which the next page continues. */
interface Order<Item> {
  isKey(text: string): boolean;
  keyOf(item: Item): string;
}

export const BY_ID: Order<{ readonly id: string }> = { isKey: isUuid, keyOf: ({ id }) => id };
export const BY_REQUEST_ID: Order<{ readonly requestId: string }> = {
  isKey: isUuid,
  keyOf: ({ requestId }) => requestId,
};

/** Reads a page: one item more than it has shows whether there is a next one. Throws INVALID_REQUEST for a token of another list. */
export async function readPage<Item>(
  request: { readonly pageSize: number; readonly pageToken: string },
  filters: object,
  { isKey, keyOf }: Order<NoInfer<Item>>,
  read: (after: string | undefined, limit: number) => Promise<Item[]>,
): Promise<{ page: Item[]; nextPageToken: string }> {
  const size = request.pageSize || DEFAULT_PAGE_SIZE;
  const items = await read(pageKey(request.pageToken, filters, isKey), size + 1);
  const page = items.slice(0, size);
  const last = page.at(-1);
  return { page, nextPageToken: items.length > size && last ? pageToken(keyOf(last), filters) : '' };
}

/** The opaque token of the page after the item with this key. It includes the filters, and is valid only with them. */
export function pageToken(key: string, filters: object): string {
  return Buffer.from(JSON.stringify([key, fingerprint(filters)])).toString('base64url');
}

/** The key after which a token continues; undefined for the first page. Throws INVALID_REQUEST for a token of another list. */
export function pageKey(token: string, filters: object, isKey: (text: string) => boolean): string | undefined {
  if (token === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const [key, filteredBy] = Array.isArray(parsed) ? parsed : [];
    if (typeof key === 'string' && isKey(key) && filteredBy === fingerprint(filters)) return key;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalidField('page_token', 'is not a token of this list');
}

function fingerprint(filters: object): string {
  return JSON.stringify(filters, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
}

type Filters<Fields> = {
  [Name in keyof Fields]?: Fields[Name] extends Timestamp | undefined ? Date : NonNullable<Fields[Name]>;
};

/** The filters that a request has. A field with its default value (no text, 0) filters nothing. */
export function filtersOf<Fields extends object>(fields: Fields): Filters<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value);
  const filters = given.map(([name, value]) => [
    name,
    isMessage(value, TimestampSchema) ? timestampDate(value) : value,
  ]);
  return Object.fromEntries(filters) as Filters<Fields>;
}
