import assert from 'node:assert/strict';
import type { Entry, ListEntriesRequest } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Client } from './adapter.ts';
import { untilAvailable } from './answer.ts';

/** Which entries are listed. */
export type Filter = Partial<
  Pick<ListEntriesRequest, 'authorizationRequestId' | 'merchantId' | 'account' | 'changedFrom'>
>;

const MOST_ENTRIES = 1_000_000;

/** The entries of a filter, page by page. Pages that lead nowhere are a fault, not a reason to go on for ever. */
export async function listAll(client: Client, filter: Filter, pageSize: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  const tokens = new Set<string>();
  let pageToken = '';
  do {
    const page = await untilAvailable(() => client.listEntries({ pageSize, pageToken, ...filter }));
    const { length } = page.entries;
    assert(length <= pageSize, `a page has ${length} entries, and ${pageSize} were asked for`);
    entries.push(...page.entries);
    pageToken = page.nextPageToken;
    assert(pageToken === '' || length > 0, 'a page without entries names a next page');
    assert(!tokens.has(pageToken), 'a page names a next page that was read before');
    assert(entries.length <= MOST_ENTRIES, `the books have more than ${MOST_ENTRIES} entries: they do not end`);
    tokens.add(pageToken);
  } while (pageToken !== '');
  return entries;
}
