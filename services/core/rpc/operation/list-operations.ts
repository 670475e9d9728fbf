import { OperationKind } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { OperationKind as Kind } from '../../domain/kinds.ts';
import type { OperationRow } from '../../storage/operation/operation-row.ts';
import { listResults } from '../../storage/operation/operation-row.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { filtersOf, readPage } from '../pages.ts';
import { presentOperation } from '../present.ts';
import { scopeOf } from '../server/caller.ts';

/** Lists final results, newest first; their sequence is the page's cursor. */
export const listOperations: Method<'listOperations'> = async (core, request, context) => {
  const merchantId = scopeOf(context, request.merchantId);
  const { holdRequestId, finalFrom, finalTo, amountFrom, amountTo, currency } = request;
  const { userId, merchantReference, cardLast4 } = request;
  if (holdRequestId !== '' && !isUuid(holdRequestId)) return { operations: [], nextPageToken: '' };
  const kind = (request.kind && OperationKind[request.kind]) as Kind;
  const status = (request.state && OperationState[request.state]) as 'OK' | 'KO';
  const filters = filtersOf({
    kind,
    status,
    holdRequestId,
    finalFrom,
    amountFrom,
    amountTo,
    currency,
    finalTo,
    userId,
    merchantReference,
    cardLast4,
  });
  const { page, nextPageToken } = await readPage(request, filters, BY_SEQUENCE, {
    read: (after, limit) =>
      listResults(core.reads, filters, { merchantId, before: after === undefined ? undefined : BigInt(after), limit }),
    present: presentOperation,
  });
  return { operations: page, nextPageToken };
};

const BY_SEQUENCE = {
  isKey: (text: string) => /^\d{1,18}$/.test(text),
  keyOf: ({ sequence }: OperationRow) => sequence.toString(),
};
