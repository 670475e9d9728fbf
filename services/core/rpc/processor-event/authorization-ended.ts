import { AuthorizationEnd, type AuthorizationEnded } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { isOpen } from '../../domain/hold-rules.ts';
import { endHold } from '../../kinds/end-hold.ts';
import { markEnded } from '../../storage/hold/change-hold.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { reconcilingSince } from '../../storage/reconciling.ts';
import type { Sent } from '../../storage/submission/find-sent.ts';
import type { Core } from '../core.ts';
import { refusalOf } from '../refuse.ts';
import { noResultYet } from './find-reported.ts';

/**
 * An authorization that ended at the processor is like one whose period is over: nothing more is captured of it, and
 * what remains is given back when what is in flight has its result. An end of a hold that is not placed yet is refused
 * for now; one of a hold that has ended changes nothing.
 */
export async function authorizationEnded(
  core: Core,
  { requestId }: Pick<Sent, 'requestId'>,
  event: AuthorizationEnded,
): Promise<void> {
  const { query } = core.database;
  const hold = await findHold(query, requestId);
  if (!hold) throw refusalOf('OPERATION_NOT_FOUND');
  if (hold.phase === 'FAILED') return;
  if (hold.phase !== 'AUTHORIZED') throw noResultYet('the hold');
  const as = event.end === AuthorizationEnd.VOIDED ? 'RELEASED' : 'EXPIRED';
  if (await markEnded(query, { requestId, as, amount: event.amount, reference: event.reference })) {
    core.log.error('contradicting_event', { holdRequestId: requestId, told: 'AMOUNT_RELEASED', kept: 'REMAINING' });
  }
  const marked = await findHold(query, requestId);
  // While the database is being reconciled, captures of the hold may be lost: it is ended afterwards, by the worker.
  if (await reconcilingSince(query)) return;
  if (marked?.endedAs != null && isOpen(marked)) await endHold(core, marked);
}
