import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { RpcError } from '../../../platform/rpc-error.ts';
import {
  Answer,
  EntryKind,
  type EntrySchema,
  type ListEntriesRequest,
  type ListEntriesResponseSchema,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { type Entry, type Kind, listEntries as readEntries } from '../ledger/entry.ts';

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

/** A page of the ledger, in the order in which identifiers were first seen. A page token is the number of the last entry shown. */
export async function listEntries(
  desk: Desk,
  request: ListEntriesRequest,
): Promise<MessageInitShape<typeof ListEntriesResponseSchema>> {
  const { pageToken, merchantId, account, authorizationRequestId } = request;
  if (!/^([1-9][0-9]{0,14})?$/.test(pageToken)) {
    throw new RpcError(status.INVALID_ARGUMENT, 'page_token: is none of ours');
  }
  const limit = request.pageSize || DEFAULT_PAGE_SIZE;
  const from = { after: BigInt(pageToken || 0), limit: limit + 1, merchantId, account, authorizationRequestId };
  const entries = await readEntries(desk.database.query, from);
  const page = entries.slice(0, limit);
  const last = entries.length > limit ? page.at(-1) : undefined;
  return { entries: page.map(entryOf), nextPageToken: last ? String(last.sequence) : '' };
}

function entryOf(entry: Entry): MessageInitShape<typeof EntrySchema> {
  const { requestId, kind, merchantId, account, currency, reference, errorCode } = entry;
  const { authorizationRequestId, terminalId, userId, tokenId } = entry;
  const { captured, voided, reversed, incremented, refunded, actedAt, endedAt } = entry;
  return {
    kind: KINDS[kind],
    requestId,
    authorizationRequestId: authorizationRequestId ?? '',
    captureRequestId: entry.captureRequestId ?? '',
    merchantId: kind === 'fence' ? '' : merchantId,
    account,
    ...(authorizationRequestId === null ? { terminalId, userId, tokenId } : {}),
    // What is at work has not ended; only an open checkout has no answer at all.
    answer: entry.answer || (kind === 'checkout' ? Answer.UNSPECIFIED : Answer.ACCEPTED),
    amount: kind === 'void' ? entry.released : entry.amount,
    currency,
    reference,
    errorCode,
    captured,
    voided,
    reversed,
    incremented,
    refunded,
    ...(actedAt && { actedAt: timestampFromDate(actedAt) }),
    ...(endedAt && { endedAt: timestampFromDate(endedAt) }),
  };
}
