/** Whether everything has come to its end. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Merchants, Scene } from '../play.ts';

/** No attempt and no hold stays open: core's own grace, a few inquiries, and a slow machine. */
export async function settled({ stage }: Scene<Deployment, Merchants>): Promise<string> {
  return `everything settled ${Math.round(await untilSettled(stage, RECOVERY_MS))} ms after the last`;
}

/** Also what no merchant waits for any more. */
const RECOVERY_MS = 180_000;

/**
 * Waits until no attempt is open, and every hold has done by itself what is due; while the database is being reconciled,
 * nothing is. Returns how long that took, in milliseconds.
 */
export async function untilSettled(
  { sql }: Pick<Deployment, 'sql'>,
  withinMs: number,
  { isReconciling = false } = {},
): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const open = await sql<{ what: string }>(isReconciling ? UNANSWERED : `${UNANSWERED} union all ${DUE}`);
    const tookMs = performance.now() - startedMs;
    if (open.length === 0) return tookMs;
    const first = open.slice(0, 5).map(({ what }) => what);
    assert(tookMs < withinMs, `${open.length} attempts or holds are open after ${withinMs} ms: ${first.join(', ')}`);
    await delay(100);
  }
}

const UNANSWERED = `select 'hold ' || request_id || ' ' || phase as what from hold
    where phase in ('AUTHORIZING', 'UNKNOWN', 'NEEDS_REVIEW')
  union all select kind || ' ' || request_id || ' ' || state from submission
    where state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW') and kind not in ('LATE_VOID', 'RENEWAL')`;

const DUE = `select 'hold ' || request_id || ' is due' from hold h
    where to_void is not null
      or (status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED'
        and (capture_at is not null or release_at is not null
          or renewal_id is not null or (renew_at < now() + interval '1 min' and keep_until > now())
          or exists (select from hold n where n.renews = h.request_id and n.phase = 'AUTHORIZED')))
  union all select kind || ' ' || request_id || ' ' || state from submission
    where state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW') and kind in ('LATE_VOID', 'RENEWAL')`;

/** Waits for all notifications to be delivered, for 90 s at most. Returns how many are left. */
export async function untilDelivered(stage: Pick<Deployment, 'sql'>): Promise<number> {
  for (let waitedMs = 0; ; waitedMs += 500) {
    const left = await undeliveredOf(stage);
    if (left === 0 || waitedMs >= 90_000) return left;
    await delay(500);
  }
}

/** The number of deliveries without their acknowledgement. */
export async function undeliveredOf({ sql }: Pick<Deployment, 'sql'>): Promise<number> {
  const [row] = await sql<{ count: number }>("select count(*)::int from delivery where state <> 'DELIVERED'");
  return row?.count ?? assert.fail();
}
