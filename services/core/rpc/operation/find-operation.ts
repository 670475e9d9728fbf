import { findSubmission } from '../../storage/operation/find-submission.ts';
import { findResult } from '../../storage/operation/operation.ts';
import type { Core } from '../core.ts';
import { presentOperation, presentSubmission } from '../present.ts';
import { isInScope } from '../server/caller.ts';

/**
 * An operation's result, or, while it has none, what was asked for; undefined when there is neither, or it is not in the scope.
 * `scope` is a merchant; undefined = any merchant's.
 */
export async function findOperation(
  { database: { query } }: Core,
  requestId: string,
  scope: string | undefined,
): Promise<ReturnType<typeof presentOperation> | ReturnType<typeof presentSubmission> | undefined> {
  const result = await findResult(query, requestId);
  if (result) return isInScope(result, scope) ? presentOperation(result) : undefined;
  const submission = await findSubmission(query, requestId);
  if (!submission || submission.lateVoid || !isInScope(submission, scope)) return undefined;
  return presentSubmission(submission);
}
