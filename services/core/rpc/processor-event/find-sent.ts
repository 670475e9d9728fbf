import type { ReportEventRequest } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { SubmissionTable } from '../../domain/kinds.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { storedFor } from '../../processor/processors.ts';
import { findSentSubmission, type Submission } from '../../storage/operation/find-submission.ts';
import type { Core } from '../core.ts';
import { invalidField, refusalOf } from '../refuse.ts';

/**
 * The submission that an event of a processor is about. Throws OPERATION_NOT_FOUND, also when it was sent to another processor, or is of
 * another table than the event speaks of.
 */
export async function findSent(
  { database: { query }, processors }: Core,
  processor: string,
  event: ReportEventRequest['event'],
): Promise<Submission> {
  const { table, identifier } = subjectOf(event);
  const submission = await findSentSubmission(query, identifier, storedFor(processors, processor));
  if (!submission || (table !== undefined && submission.table !== table)) throw refusalOf('OPERATION_NOT_FOUND');
  return submission;
}

/** What an event names: an identifier at the processor, and the table that it must be in, unless any will do. */
function subjectOf(event: ReportEventRequest['event']): { table?: SubmissionTable; identifier: string } {
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return { identifier: event.value.requestId };
    case 'authorizationEnded':
      return { table: 'hold', identifier: event.value.requestId };
    case 'foreignCapture':
      return { table: 'hold', identifier: event.value.authorizationRequestId };
    case 'captureReversed':
    case 'captureReinstated': {
      const { captureRequestId, authorizationRequestId } = event.value;
      if (captureRequestId !== '') return { table: 'capture', identifier: captureRequestId };
      return { table: 'hold', identifier: authorizationRequestId };
    }
    default:
      throw invalidField('event', 'is missing');
  }
}

/** The refusal of an event that comes before what it is about; the processor reports it again. */
export function noResultYet(what: string): HoldfastError {
  return new HoldfastError('UNAVAILABLE', `${what} has no result yet`, { retryAfterS: 1 });
}
