import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  EntryKind,
  type EntrySchema,
  type ListEntriesRequest,
  type ListEntriesResponseSchema,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry, Kind } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';

const DEFAULT_PAGE_SIZE = 500;

const KINDS: Readonly<Record<Kind, EntryKind>> = {
  authorization: EntryKind.AUTHORIZATION,
  checkout: EntryKind.AUTHORIZATION,
  capture: EntryKind.CAPTURE,
  void: EntryKind.VOID,
  credit: EntryKind.CREDIT,
  fence: EntryKind.FENCE,
};

/** A page token is the number of the last entry shown; undefined = it is none of ours. */
export function numberOfPageToken(token: string): number | undefined {
  if (token === '') return 0;
  return /^[1-9][0-9]{0,14}$/.test(token) ? Number(token) : undefined;
}

/** A page of the ledger, in the order in which identifiers were first seen. */
export function listEntries(
  books: Books,
  request: ListEntriesRequest,
  after: number,
): MessageInitShape<typeof ListEntriesResponseSchema> {
  const limit = request.pageSize || DEFAULT_PAGE_SIZE;
  const { authorizationRequestId } = request;
  const entries = books.entries.list({ after, limit: limit + 1, authorizationRequestId });
  const page = entries.slice(0, limit);
  const last = entries.length > limit ? page.at(-1) : undefined;
  return { entries: page.map(entryOf), nextPageToken: last ? String(last.seq) : '' };
}

function entryOf(entry: Entry): MessageInitShape<typeof EntrySchema> {
  return {
    kind: KINDS[entry.kind],
    requestId: entry.requestId,
    authorizationRequestId: entry.authorizationRequestId,
    merchantId: entry.merchantId,
    answer: entry.answer,
    amount: BigInt(entry.kind === 'void' ? entry.voided : entry.amount),
    currency: entry.currency,
    reference: entry.reference,
    errorCode: entry.errorCode,
    captured: BigInt(entry.captured),
    voided: BigInt(entry.kind === 'void' ? 0 : entry.voided),
    reversed: BigInt(entry.reversed),
    actedAt: timestampFromMs(entry.actedAtMs),
  };
}
