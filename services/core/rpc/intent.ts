/** What all writes of money have in common: a name drawn before anything happens, and an answer that keeps to what is stored. */
import { v7 as uuidv7 } from 'uuid';
import { ResultLost } from '../../../proto/gather.ts';
import { errorFields } from '../../../proto/log.ts';
import { HoldfastError } from '../domain/refusal.ts';
import type { Core } from './core.ts';
import { invalidField } from './refuse.ts';

/** The name of the operation that a call makes: the caller's, or a new one. */
export function requestIdOf(request: { readonly operationRequestId?: string | undefined }): string {
  return request.operationRequestId ?? uuidv7();
}

/** Stores an intent. LOST = it may be stored: the answer is that the outcome is being found out. */
export async function stored<Outcome>(storing: Promise<Outcome>): Promise<Outcome | 'LOST'> {
  try {
    return await storing;
  } catch (error) {
    if (error instanceof ResultLost) return 'LOST';
    throw error;
  }
}

/**
 * Answers once an intent is stored. From here on a refusal would be a lie, unless it is the operation's own result: whatever else goes
 * wrong, the operation is there, the processor may have performed it, and recovery finds out.
 */
export function answerStored<Answer>(
  core: Core,
  requestId: string,
  unknown: () => Answer,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  return orUnknown(core, requestId, unknown, answer, (refusal) => refusal.details.requestId === requestId);
}

/** The same for a call whose operation an earlier call has stored; that its name is taken by another operation may be said, too. */
export function answerRepeated<Answer>(
  core: Core,
  requestId: string,
  unknown: () => Answer,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  return orUnknown(core, requestId, unknown, answer, () => true);
}

async function orUnknown<Answer>(
  core: Core,
  requestId: string,
  unknown: () => Answer,
  answer: () => Promise<Answer>,
  mayBeSaid: (refusal: HoldfastError) => boolean,
): Promise<Answer> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof HoldfastError && mayBeSaid(error)) throw error;
    core.log.error('result_not_stored', { requestId, ...errorFields(error) });
    return unknown();
  }
}

/** The refusal of a call that came too late to be stored. */
export function tooLate(): HoldfastError {
  return new HoldfastError('UNAVAILABLE', 'the deadline of the call is over; nothing was stored', { retryAfterS: 1 });
}

/** The refusal of a call whose requestId names another operation already. */
export function requestIdTaken(): HoldfastError {
  return invalidField('operation_request_id', 'names another operation already');
}
