import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { CreateRefundResponseSchema } from '../../../../proto/gen/holdfast/v1/refund_pb.js';
import { onHold } from '../../kinds/facts.ts';
import { send } from '../../kinds/send-to-processor.ts';
import { settle } from '../../kinds/settle-outcome.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import type { SubmissionRow } from '../../storage/submission/submission-row.ts';
import type { Core, Method } from '../core.ts';
import { claimOf } from '../idempotency.ts';
import { presentRefund } from '../present.ts';
import { scopeOf, scopeOfChange } from '../server/caller.ts';
import {
  agreesWith,
  answerStored,
  demandOk,
  demandOwnResult,
  type First,
  findFirst,
  findFirstUnstored,
  namedSubmission,
  processorAway,
  requestOf,
  sentAs,
  storedAmount,
  storedOrLost,
} from '../write.ts';

type Response = MessageInitShape<typeof CreateRefundResponseSchema>;

/**
 * Gives a capture, or a part of it, back to the card (docs/product.md, "Refunds"): what is left of the capture is
 * judged and reserved, then the processor is asked, then its outcome is settled. The hold may be closed.
 */
export const createRefund: Method<'createRefund'> = async (core, request, context) => {
  const scope = scopeOfChange(context, request.merchantId);
  const capture = await namedSubmission(core, 'CAPTURE', request.captureRequestId, scope);
  const { merchantId, requestId: captureRequestId } = capture;
  const hold = await findHold(core.database.query, capture.holdRequestId ?? '');
  assert(hold, 'a capture has a hold');
  const { amount } = request;
  const claim = claimOf(request.idempotencyKey, 'REFUND', { capture: captureRequestId, amount });
  const refund = {
    ...requestOf(core, request, context),
    kind: 'REFUND',
    merchantId,
    claim,
    idHash: hold.idHash,
    captureRequestId,
    amount,
  } as const;
  const { requestId } = refund;
  const agrees = agreesWith(core, 'REFUND', (row) => {
    return row.captureRequestId === captureRequestId && (amount === undefined || row.amount === amount);
  });
  const processor = core.processors.of(hold);
  if (!processor.admits()) {
    const first = await findFirstUnstored(core, refund, () => processorAway(core, hold.processor), agrees);
    return answerAgain(core, first, capture);
  }

  return processor.callers.wait(async () => {
    const stored = await storedOrLost(core.books.store(refund));
    if (stored === 'LOST') return unknown(requestId, capture);
    const first = await findFirst(core, refund, stored, agrees);
    if (first) return answerAgain(core, first, capture);
    try {
      const facts = {
        kind: 'REFUND',
        requestId,
        processorRequestId: await sentAs(core, requestId, stored),
        ...onHold(hold),
        captureRequestId,
        capture,
        amount: await storedAmount(core, requestId, stored),
      } as const;
      const outcome = await send(core, facts);
      const settled = await settle(core, facts, outcome);
      if (settled.is === 'UNKNOWN') return unknown(requestId, capture);
      if (settled.is === 'SETTLED') demandOk(requestId, outcome);
      return await answerAgain(core, { requestId, replayed: false }, capture);
    } catch (error) {
      demandOwnResult(core, requestId, error);
      return unknown(requestId, capture);
    }
  });
};

/** Looks up a refund. */
export const getRefund: Method<'getRefund'> = async (core, request, context) => {
  const refund = await namedSubmission(core, 'REFUND', request.requestId, scopeOf(context, request.merchantId));
  return { refund: presentRefund(refund) };
};

function answerAgain(core: Core, first: First, capture: SubmissionRow): Promise<Response> {
  return answerStored(core, first, unknown(first.requestId, capture), (row) => ({ refund: presentRefund(row) }));
}

function unknown(requestId: string, { requestId: captureRequestId, holdRequestId }: SubmissionRow): Response {
  const state = OperationState.UNKNOWN;
  return { refund: { requestId, captureRequestId, holdRequestId: holdRequestId ?? '', state } };
}
