import { findResult } from '../../storage/operation/operation-row.ts';
import { findSent } from '../../storage/submission/find-sent.ts';
import type { Core } from '../core.ts';
import { presentOperation, presentSent } from '../present.ts';
import { isInScope } from '../server/caller.ts';

/**
 * An operation's result, or, while it has none, what was asked for; undefined when there is neither, or it is not in
 * the scope. `scope` is a merchant; undefined = any merchant's.
 */
export async function findOperation(
  { database: { query } }: Core,
  requestId: string,
  scope: string | undefined,
): Promise<ReturnType<typeof presentOperation> | ReturnType<typeof presentSent> | undefined> {
  const result = await findResult(query, requestId);
  if (result) return isInScope(result, scope) ? presentOperation(result) : undefined;
  const sent = await findSent(query, requestId);
  if (!sent || !isInScope(sent, scope)) return undefined;
  return presentSent(sent);
}
