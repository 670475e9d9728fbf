import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { CreateRefundResponseSchema } from '../../../../proto/gen/holdfast/v1/refund_pb.js';
import { onHold } from '../../kinds/facts.ts';
import { send } from '../../kinds/send.ts';
import { settle } from '../../kinds/settle.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { findSubmission } from '../../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../../storage/submission/submission-row.ts';
import type { Core, Method } from '../core.ts';
import { claimOf } from '../idempotency.ts';
import { isUuid } from '../ids.ts';
import { presentRefund } from '../present.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope, scopeOfChange } from '../server/caller.ts';
import {
  answerStored,
  demandOk,
  demandOwnResult,
  type First,
  findFirst,
  findFirstUnstored,
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
  const capture = await namedCapture(core, request.captureRequestId, scopeOfChange(context, request.merchantId));
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
  const agrees = (id: string) => isOf(core, id, capture, amount);
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
      if (settled.is === 'ENDED') demandOk(requestId, outcome);
      return await answerAgain(core, { requestId, replayed: false }, capture);
    } catch (error) {
      demandOwnResult(core, requestId, error);
      return unknown(requestId, capture);
    }
  });
};

/** The capture that a request names. Another merchant's, and a malformed id, look like one that does not exist. */
async function namedCapture(core: Core, requestId: string, merchantId: string | undefined): Promise<SubmissionRow> {
  const row = isUuid(requestId) ? await findSubmission(core.database.query, requestId) : undefined;
  if (row?.kind !== 'CAPTURE' || !isInScope(row, merchantId)) throw refusalOf('CAPTURE_NOT_FOUND');
  return row;
}

function answerAgain(core: Core, first: First, capture: SubmissionRow): Promise<Response> {
  return answerStored(core, first, unknown(first.requestId, capture), (row) => ({ refund: presentRefund(row) }));
}

/** Whether an operation is a refund of the capture, of this amount if one was said. */
async function isOf(core: Core, id: string, capture: SubmissionRow, amount: bigint | undefined): Promise<boolean> {
  const row = await findSubmission(core.database.query, id);
  const isSame = row?.kind === 'REFUND' && row.captureRequestId === capture.requestId;
  return isSame && (amount === undefined || row.amount === amount);
}

function unknown(requestId: string, { requestId: captureRequestId, holdRequestId }: SubmissionRow): Response {
  const state = OperationState.UNKNOWN;
  return { refund: { requestId, captureRequestId, holdRequestId: holdRequestId ?? '', state } };
}
