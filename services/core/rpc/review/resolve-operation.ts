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
  if (state === 'OK' || state === 'KO') throw invalidField('request_id', 'the operation has its result already');
  if (state === 'PENDING') throw invalidField('request_id', 'the processor is being asked still');
  const outcome = outcomeOf(request);
  if (!(await settledByProcessor(core, request, submission))) await settleDecided(core, table, requestId, outcome);
  const now = await findSubmission(core.database.query, requestId);
  if (now?.state !== (isOk(outcome) ? 'OK' : 'KO')) {
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
  { unfenced }: ResolveOperationRequest,
  submission: Submission,
): Promise<boolean> {
  const { requestId, table } = submission;
  const answer = await core.processors.of(submission).inquire(submission);
  if (answer.found === 'AT_WORK') throw invalidField('request_id', 'the processor is at work on it; try again later');
  const unanswered = (): false => {
    if (unfenced) return false;
    throw invalidField(
      'unfenced',
      'the processor does not answer, so it may perform it yet; set it to decide all the same',
    );
  };
  if (answer.found === 'NO_ANSWER') return unanswered();
  const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
  // The processor's refusal of what must happen is why it came to review: the operator judges it.
  if (!isOk(outcome) && (await mustHappen(core, table, requestId))) return false;
  return (await settleLate(core, table, requestId, outcome)) || unanswered();
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
