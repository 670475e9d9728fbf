import { isMessage, type Message } from '@bufbuild/protobuf';
import { TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { Slice } from '../storage/scan-page.ts';
import { isUuid } from './ids.ts';
import { invalidField } from './refuse.ts';

/** Items on a page when the request does not say (AIP-158). */
const DEFAULT_PAGE_SIZE = 50;

/** The order of a list: the key of an item, after which the next page continues. */
interface Order<Item> {
  isKey(text: string): boolean;
  keyOf(item: Item): string;
}

export const BY_ID: Order<{ readonly id: string }> = { isKey: isUuid, keyOf: ({ id }) => id };
export const BY_REQUEST_ID: Order<{ readonly requestId: string }> = {
  isKey: isUuid,
  keyOf: ({ requestId }) => requestId,
};

/** The source of a list: rows after a key, and the message of each. */
interface List<Filters, Row, Item> {
  readonly read: (filters: Filters, after: string | undefined, limit: number) => Promise<Slice<Row> | Row[]>;
  readonly present: (row: Row) => Item;
}

/**
 * The answer with a page of a list, `name` in the contract: one row more than it has items shows whether there is a
 * next one. It ends early, with a token, when its items have PAGE_BYTES or the scan of the table ended. Throws
 * INVALID_REQUEST for a token of another list.
 */
export async function readPage<Name extends string, Filters extends object, Row, Item>(
  name: Name,
  request: { readonly pageSize: number; readonly pageToken: string },
  filters: Filters,
  { isKey, keyOf }: Order<NoInfer<Row>>,
  { read, present }: List<NoInfer<Filters>, Row, Item>,
) {
  const size = request.pageSize || DEFAULT_PAGE_SIZE;
  const slice = await read(filters, pageKey(request.pageToken, filters, isKey), size + 1);
  const { rows, scannedTo } = Array.isArray(slice) ? { rows: slice, scannedTo: undefined } : slice;
  const page: Item[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, size)) {
    const item = present(row);
    bytes += bytesOf(item);
    if (bytes > PAGE_BYTES && page.length > 0) break;
    page.push(item);
  }
  const last = rows[page.length - 1];
  const next = page.length < rows.length && last !== undefined ? keyOf(last) : scannedTo;
  const items = { [name]: page } as Record<Name, Item[]>;
  return { ...items, nextPageToken: next === undefined ? '' : pageToken(next, filters) };
}

/** Below the 4 MiB that gRPC clients receive by default, also when one item more is as large as items can be. */
const PAGE_BYTES = 1024 * 1024;

/** At least as many bytes as a message takes that is made of these values. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return FIELD_BYTES + Buffer.byteLength(value);
  if (value instanceof Uint8Array) return FIELD_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return FIELD_BYTES;
  return Object.entries(value).reduce((sum, [name, each]) => sum + name.length + bytesOf(each), FIELD_BYTES);
}

/** Of a field's tag, its length, or its number. */
const FIELD_BYTES = 12;

/** The opaque token of the page after the item with this key. It includes the filters, and is valid only with them. */
export function pageToken(key: string, filters: object): string {
  return Buffer.from(JSON.stringify([key, fingerprint(filters)])).toString('base64url');
}

/** The key after which a token continues; undefined = the first page. Throws INVALID_REQUEST for a foreign token. */
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

/** The filters of a list's request, with words for enum values and Dates for times. No text, and 0, filter nothing. */
export function filtersOf<Filter extends object>({ method }: HandlerContext, request: Message): Filter {
  const values = request as unknown as Readonly<Record<string, unknown>>;
  const filters: Record<string, unknown> = {};
  for (const { localName, enum: words } of method.input.fields) {
    const value = values[localName];
    if (!value || localName === 'pageSize' || localName === 'pageToken') continue;
    if (isMessage(value, TimestampSchema)) filters[localName] = timestampDate(value);
    else filters[localName] = words ? words.value[value as number]?.localName : value;
  }
  return filters as Filter;
}
