import type { MethodImpl } from '@connectrpc/connect';
import type { OperatorService, ResolveOperationRequest } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { type FinalOutcome, isOk, NEVER_RECEIVED } from '../../domain/operation.ts';
import { settleAttempt } from '../../settlement/settle-attempt.ts';
import type { AttemptTable } from '../../storage/attempts.ts';
import { unfreezeHold } from '../../storage/freeze-hold.ts';
import type { Core } from '../core.ts';
import { findOperation } from '../operation/get-operation.ts';
import { invalidField, refusalOf } from '../refuse.ts';
import { findReviewed, type Reviewed } from './reviewed.ts';

/**
 * Settles an attempt as an operator decides, who has asked the processor's people, once inquiries ended without a result
 * (docs/product.md, "Unknown outcomes"). The processor is asked once more before. It takes the way of any late result, so a
 * contradicting one freezes the hold. Audited by the interceptor, before.
 */
export function resolveOperation(core: Core): MethodImpl<typeof OperatorService.method.resolveOperation> {
  return async (request) => {
    const { requestId } = request;
    const reviewed = await findReviewed(core, requestId);
    if (!reviewed) throw refusalOf('OPERATION_NOT_FOUND');
    const decides = request.outcome !== OperationState.UNSPECIFIED;
    if (!decides && !request.unfreezeHold) {
      throw invalidField('outcome', 'say how the attempt ended, or that its hold is to be unfrozen');
    }
    if (request.unfreezeHold && reviewed.holdRequestId === undefined)
      throw invalidField('unfreeze_hold', 'it has no hold');
    if (decides) await settle(core, request, reviewed);
    if (request.unfreezeHold && reviewed.holdRequestId !== undefined) {
      await unfreezeHold(core.database.query, reviewed.holdRequestId);
    }
    core.log.warn('operator_resolved', { requestId, state: OperationState[request.outcome] });
    const operation = await findOperation(core, { requestId });
    const now = await findReviewed(core, requestId);
    return { ...(operation && { operation }), frozen: now?.frozen ?? false };
  };
}

async function settle(core: Core, request: ResolveOperationRequest, { table, state }: Reviewed): Promise<void> {
  const { requestId } = request;
  if (state === 'OK' || state === 'KO') throw invalidField('request_id', 'the operation has its result already');
  if (state === 'PENDING') throw invalidField('request_id', 'the processor is being asked still');
  const outcome = outcomeOf(request);
  if (!(await settledByProcessor(core, request, table))) await settleAs(core, table, requestId, outcome);
  const now = await findReviewed(core, requestId);
  if (now?.state !== (outcome.answer === 'APPROVED' ? 'OK' : 'KO')) {
    throw invalidField('outcome', 'the processor says otherwise, and the operation has that result now');
  }
}

/**
 * Inquires first, which fences: what the processor does not know now it will never perform, so a person's KO cannot be overtaken. What
 * it does know is settled as recovery would. True = it has its result. Errors: INVALID_REQUEST while the processor is at work, and
 * when it does not answer, unless the operator decides unfenced.
 */
async function settledByProcessor(
  core: Core,
  { requestId, unfenced }: ResolveOperationRequest,
  table: AttemptTable,
): Promise<boolean> {
  const answer = await core.processor.inquire(requestId);
  if (answer.found === 'AT_WORK') throw invalidField('request_id', 'the processor is at work on it; try again later');
  if (answer.found === 'NO_ANSWER') {
    if (unfenced) return false;
    throw invalidField(
      'unfenced',
      'the processor does not answer, so it may perform it yet; set it to decide all the same',
    );
  }
  const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
  // A void that must happen and was refused is for the operator to judge: the processor's no is why it came to review.
  if (table === 'release' && !isOk(outcome)) return false;
  await settleAttempt(core, table, requestId, outcome);
  return true;
}

/**
 * A void that must happen is never KO by a machine's judgement, so settling it by inquiry would send it back to review; a person's word
 * ends it. What of it remains is tried again by the expiry under a new identifier.
 */
async function settleAs(core: Core, table: AttemptTable, requestId: string, outcome: FinalOutcome): Promise<void> {
  if (table === 'release') await core.books.settleRelease({ requestId, outcome, at: core.clock() });
  else await settleAttempt(core, table, requestId, outcome);
}

function outcomeOf(request: ResolveOperationRequest): FinalOutcome {
  const { processorReference: reference, bankReference, processorError } = request;
  if (request.outcome === OperationState.OK) return { answer: 'APPROVED', reference, bankReference };
  return {
    answer: 'NOT_PERFORMED',
    code: processorError?.code || 'resolved_by_operator',
    message: processorError?.message || 'An operator learned that it was not done.',
  };
}
