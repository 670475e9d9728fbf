import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { leftOf } from '../../domain/refund-rules.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import type { SubmissionRow } from '../../storage/submission/submission-row.ts';
import type { Method } from '../core.ts';
import { agreesWith } from '../first-call.ts';
import { claimOf } from '../idempotency.ts';
import { namedSubmission } from '../operation/read-operations.ts';
import { presentRefund } from '../present.ts';
import { brokenStep, demandCurrency } from '../refuse.ts';
import { scopeOf, scopeOfChange } from '../server/caller.ts';
import { refuseUnsigned } from '../server/refuse-unsigned.ts';
import { demandWords, wordsIn } from '../words.ts';
import { answersOf, refuseStrayId, requestOf, write } from '../write.ts';

/** Gives a capture, or a part of it, back to the card (docs/product.md, "Refunds"). The hold may be closed. */
export const createRefund: Method<'createRefund'> = async (core, request, context) => {
  const scope = scopeOfChange(context, request.merchantId);
  await refuseUnsigned(core, context, 'requireSignedRefunds', scope);
  const capture = await namedSubmission(core, 'CAPTURE', request.captureRequestId, scope);
  const { merchantId, requestId: captureRequestId, holdRequestId } = capture;
  const hold = await findHold(core.database.query, holdRequestId ?? '');
  assert(hold, 'a capture has a hold');
  demandCurrency(hold, request.currency);
  await demandWords(core, request, () => merchantId);
  const { amount } = request;
  const words = wordsIn(request);
  const claim = claimOf(request.idempotencyKey, 'REFUND', { capture: captureRequestId, amount, ...words });
  const refund = {
    ...requestOf(core, request, context),
    kind: 'REFUND',
    merchantId,
    claim,
    idHash: hold.idHash,
    captureRequestId,
    amount,
    ...words,
  } as const;
  const isSame = (row: SubmissionRow) =>
    row.captureRequestId === captureRequestId && (amount === undefined || row.amount === amount);
  return write(core, {
    call: refund,
    request: refund,
    refusal: refuseStrayId(request) ?? brokenStep(core, hold, { field: 'amount', amount, rest: leftOf(hold, capture) }),
    processor: hold.processor,
    agrees: agreesWith(core, ['REFUND'], isSame),
    answers: answersOf(core, {
      present: (row) => ({ refund: presentRefund(row) }),
      unknown: (requestId) => ({
        refund: { requestId, captureRequestId, holdRequestId: hold.requestId, state: OperationState.UNKNOWN },
      }),
    }),
  });
};

/** Looks up a refund. */
export const getRefund: Method<'getRefund'> = async (core, request, context) => {
  const refund = await namedSubmission(core, 'REFUND', request.requestId, scopeOf(context, request.merchantId));
  return { refund: presentRefund(refund) };
};
