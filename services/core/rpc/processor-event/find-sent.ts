import type { SubmissionTable } from '../../domain/kinds.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { findSentSubmission, type Submission } from '../../storage/operation/find-submission.ts';
import type { Core } from '../core.ts';
import { refusalOf } from '../refuse.ts';

/** What acting on an event works with. */
export interface Reporting extends Core {
  /** Whether the caller may report on what was sent to a processor of that name. */
  mayReport(processor: string): boolean;
}

/**
 * The submission that an event names by its identifier at the processor. Errors: OPERATION_NOT_FOUND, also when it is of another table, or
 * of a processor that the caller may not report on.
 */
export async function findSent(
  core: Reporting,
  table: SubmissionTable | 'any table',
  identifier: string,
): Promise<Submission> {
  const submission = await findSentSubmission(core.database.query, identifier);
  if (!submission || (table !== 'any table' && submission.table !== table)) throw refusalOf('OPERATION_NOT_FOUND');
  const { processor } = submission;
  if (!core.mayReport(core.processors.nameOf(processor) ?? processor)) throw refusalOf('OPERATION_NOT_FOUND');
  return submission;
}

/** The refusal of an event that comes before what it is about; the processor reports it again. */
export function noResultYet(what: string): HoldfastError {
  return new HoldfastError('UNAVAILABLE', `${what} has no result yet`, { retryAfterS: 1 });
}
