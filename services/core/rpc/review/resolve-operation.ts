import type { ResolveOperationRequest } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { type FinalOutcome, isOk, NEVER_RECEIVED } from '../../domain/operation.ts';
import { mustHappen, settleDecided, settleLate } from '../../kinds/settle-late.ts';
import { unfreezeHold } from '../../storage/hold/change-hold.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { findSubmission, type Submission } from '../../storage/operation/find-submission.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { findOperation } from '../operation/find-operation.ts';
import { invalidField, refusalOf } from '../refuse.ts';

/**
 * Settles a submission as an operator decides, who has asked the processor's people, once inquiries ended without a result
 * (docs/product.md, "Unknown outcomes"). The processor is asked once more before. It takes the way of any late result, so a
 * contradicting one freezes the hold. Audited by the interceptor, before.
 */
export const resolveOperation: Method<'resolveOperation'> = async (core, request) => {
  const { requestId } = request;
  const { query } = core.database;
  const submission = isUuid(requestId) ? await findSubmission(query, requestId) : undefined;
  if (!submission) throw refusalOf('OPERATION_NOT_FOUND');
  const decides = request.outcome !== OperationState.UNSPECIFIED;
  if (!decides && !request.unfreezeHold) {
    throw invalidField('outcome', 'say how the operation ended, or that its hold is to be unfrozen');
  }
  const holdRequestId = submission.table === 'hold' ? requestId : submission.holdRequestId;
  if (request.unfreezeHold && holdRequestId === null) throw invalidField('unfreeze_hold', 'it has no hold');
  if (decides) await settle(core, request, submission);
  if (request.unfreezeHold && holdRequestId !== null) await unfreezeHold(query, holdRequestId);
  core.log.warn('operator_resolved', { requestId, state: OperationState[request.outcome] });
  const operation = await findOperation(core, requestId, undefined);
  const hold = holdRequestId === null ? undefined : await findHold(query, holdRequestId);
  return { ...(operation && { operation }), frozen: hold?.frozen ?? false };
};

async function settle(core: Core, request: ResolveOperationRequest, submission: Submission): Promise<void> {
  const { requestId, state, table } = submission;
  const { query } = core.database;
  if (state === 'OK' || state === 'KO') throw invalidField('request_id', 'the operation has its result already');
  if (state === 'PENDING' && !(await isCheckoutOver(core, submission))) {
    throw invalidField('request_id', 'the processor is being asked still');
  }
  const outcome = outcomeOf(request);
  if (!(await settledByProcessor(core, request, submission))) await settleDecided(core, table, requestId, outcome);
  const now = await findSubmission(query, requestId);
  if (now?.state !== (isOk(outcome) ? 'OK' : 'KO')) {
    throw invalidField('outcome', 'the processor says otherwise, and the operation has that result now');
  }
}

/**
 * Inquires first, which fences: what the processor does not know now it will never perform, so a person's KO cannot be overtaken. What
 * it does know is settled as recovery would. True = it has its result. Errors: INVALID_REQUEST while the processor is at work, and when
 * it does not answer or has been at work for too long, unless the operator decides unfenced.
 */
async function settledByProcessor(
  core: Core,
  { unfenced }: ResolveOperationRequest,
  submission: Submission,
): Promise<boolean> {
  const { requestId, table } = submission;
  const answer = await core.processors.of(submission).inquire(submission);
  if (answer.found === 'AT_WORK' && (await isInTime(core, submission, answer.expectedBy))) {
    throw invalidField('request_id', 'the processor is at work on it; try again later');
  }
  const unanswered = (): false => {
    if (unfenced) return false;
    throw invalidField(
      'unfenced',
      'the processor has no result, and may perform it yet; set it to decide all the same',
    );
  };
  if (answer.found !== 'DONE' && answer.found !== 'NEVER_SEEN') return unanswered();
  const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
  // The processor's refusal of what must happen is why it came to review: the operator judges it.
  if (!isOk(outcome) && (await mustHappen(core, table, requestId))) return false;
  return (await settleLate(core, table, requestId, outcome)) || unanswered();
}

/** Whether the processor may be at work still: by the time that it said, within bounds, or else until inquiries have ended. */
async function isInTime(core: Core, submission: Submission, expectedBy: Date | undefined): Promise<boolean> {
  const { table, createdAt, state } = submission;
  if (!expectedBy) return state !== 'NEEDS_REVIEW';
  return (await core.processors.of(submission).acceptedUntil(table, createdAt, expectedBy)) > core.clock();
}

/** A checkout that has run out and could not be given up. */
async function isCheckoutOver(core: Core, { table, requestId }: Submission): Promise<boolean> {
  const hold = table === 'hold' ? await findHold(core.database.query, requestId) : undefined;
  if (hold?.phase !== 'AWAITING_CHECKOUT' || hold.closing) return false;
  return (hold.checkoutExpiresAt ?? hold.createdAt) <= core.clock();
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
