import { v7 as uuidv7 } from 'uuid';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import { ReleaseEntity } from '../storage/release.ts';
import type { Settlement } from './settle-attempt.ts';

/** Error codes of VoidResponse (proto/holdfast/processor/v1) that say that nothing is left to give back. */
const NOTHING_LEFT: ReadonlySet<string> = new Set([
  'authorization_expired',
  'authorization_not_found',
  'authorization_not_approved',
  'authorization_voided',
  'authorization_closed',
]);

/**
 * Settles a release by the processor's answer to its void. A merchant's release simply fails when the processor says no. An expiry
 * or a late void must happen: nothing left is as good as done, one that never arrived is tried again under a new identifier, and
 * any other "no" needs review. False = the release had ended before.
 */
export async function settleVoid(settlement: Settlement, requestId: string, outcome: FinalOutcome): Promise<boolean> {
  const at = settlement.clock();
  const release = await settlement.database.orm.em.fork().findOneOrFail(ReleaseEntity, { requestId });
  if (release.reason === 'RELEASED' || isOk(outcome)) return settlement.books.settleRelease({ requestId, outcome, at });
  if (NOTHING_LEFT.has(outcome.code)) {
    const done = { answer: 'APPROVED', reference: '', bankReference: '' } as const;
    return settlement.books.settleRelease({ requestId, outcome: done, at });
  }
  if (outcome.code === 'never_received') {
    const settled = await settlement.books.settleRelease({ requestId, outcome, at });
    if (settled && release.reason === 'LATE') await voidLate(settlement, release.holdRequestId);
    return settled;
  }
  const open = await settlement.books.markNeedsReview('release', requestId);
  if (open) settlement.log.error('needs_review', { kind: 'release', requestId, processorCode: outcome.code });
  return open;
}

/** Sees to it that an authorization nobody counts on any more is given back; recovery sends the void. */
export async function voidLate(settlement: Settlement, holdRequestId: string): Promise<void> {
  const em = settlement.database.orm.em.fork();
  if (await em.findOne(ReleaseEntity, { holdRequestId, reason: 'LATE', state: { $ne: 'KO' } })) return;
  const at = settlement.clock();
  await settlement.books.reserveRelease({ requestId: uuidv7(), holdRequestId, reason: 'LATE', at, inquireAt: at });
  settlement.log.warn('late_authorization', { requestId: holdRequestId });
}
