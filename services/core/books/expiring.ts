import { drawId } from '../../../platform/draw-id.ts';
import { holdAfter } from '../domain/hold-after.ts';
import type { Database } from '../storage/database.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import { tellExpiring } from '../storage/hold/tell-expiring.ts';
import { resultOf, subjectOn } from './operation-result.ts';
import { type Settled, settledOf } from './settle-gathered.ts';

/**
 * Tells a merchant that a hold ends soon, once: a notice with a requestId of its own, and what remains. Nothing when
 * the hold has changed since.
 */
export async function noticeExpiring({ query }: Database, hold: ReadHold, at: Date): Promise<Settled> {
  const requestId = drawId();
  const outcome = { answer: 'APPROVED', reference: '', bankReference: '' } as const;
  const subject = subjectOn(hold, holdAfter(hold), hold.remaining);
  const operation = resultOf(requestId, 'EXPIRING', subject, { outcome, at });
  const { requestId: holdRequestId, version } = hold;
  const done = await tellExpiring(query, { requestId, holdRequestId, version, operation });
  return settledOf(done, requestId, operation);
}
