import { invalidField } from './refuse.ts';

/** Items on a page when the request does not say (AIP-158). */
const DEFAULT_PAGE_SIZE = 50;

/** How many items a page has. */
export function pageSizeOf(request: { readonly pageSize: number }): number {
  return request.pageSize === 0 ? DEFAULT_PAGE_SIZE : request.pageSize;
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
    if (
      Array.isArray(parsed) &&
      typeof parsed[0] === 'string' &&
      isKey(parsed[0]) &&
      parsed[1] === fingerprint(filters)
    ) {
      return parsed[0];
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalidField('page_token', 'is not a token of this list');
}

/** Cuts a list that was read with one item too many to a page, and makes the token of the next page. */
export function cutPage<Item>(
  items: Item[],
  size: number,
  tokenOf: (last: Item) => string,
): { page: Item[]; nextPageToken: string } {
  const page = items.slice(0, size);
  const last = page.at(-1);
  return { page, nextPageToken: items.length > size && last ? tokenOf(last) : '' };
}

function fingerprint(filters: object): string {
  return JSON.stringify(filters, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
}
