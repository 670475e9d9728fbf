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
  increment: EntryKind.INCREMENT,
  extension: EntryKind.EXTENSION,
  refund: EntryKind.REFUND,
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
  const { authorizationRequestId, merchantId, account } = request;
  const entries = books.entries.list({ after, limit: limit + 1, authorizationRequestId, merchantId, account });
  const page = entries.slice(0, limit);
  const last = entries.length > limit ? page.at(-1) : undefined;
  return { entries: page.map(entryOf), nextPageToken: last ? String(last.seq) : '' };
}

/** Whose card was asked, and where. */
function placeOf({ terminalId, userId, tokenId }: Entry) {
  return { terminalId, userId, tokenId };
}

function entryOf(entry: Entry): MessageInitShape<typeof EntrySchema> {
  const isAuthorization = entry.kind === 'authorization' || entry.kind === 'checkout';
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
    voided: BigInt(isAuthorization ? entry.voided : 0),
    reversed: BigInt(entry.reversed),
    incremented: BigInt(entry.incremented),
    refunded: BigInt(entry.refunded),
    captureRequestId: entry.captureRequestId,
    account: entry.account,
    ...(isAuthorization || entry.kind === 'credit' ? placeOf(entry) : {}),
    ...(entry.endedAtMs > 0 && { endedAt: timestampFromMs(entry.endedAtMs) }),
    actedAt: timestampFromMs(entry.actedAtMs),
  };
}
