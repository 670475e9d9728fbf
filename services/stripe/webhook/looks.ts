import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { errorFields } from '../../../platform/log.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { reconcile } from './reconcile.ts';

/** So many in a turn of a second: a look is two or three requests, and Stripe takes 100 a second (25 of a test key). */
const AT_ONCE = 5;

/**
 * Looks at the payments that are due. Where webhooks arrive this finds nothing new; where none do, as on a laptop
 * without `stripe listen`, or while Stripe cannot reach the adapter, it finds what they would have announced.
 */
export async function lookAround(context: Context): Promise<void> {
  const due = await takeDueLooks(context.database.query, context.now(), AT_ONCE);
  await Promise.all(due.map((requestId) => lookAt(context, requestId)));
}

/** A payment that others work on is theirs to settle; its next look comes. */
async function lookAt(context: Context, requestId: string): Promise<void> {
  try {
    await context.leases.run(requestId, 0, () => reconcile(context, requestId));
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) context.log.error('look failed', errorFields(error));
  }
}

/**
 * What may change at Stripe without a call of core's: an open checkout, a live authorization, a refund that Stripe has
 * taken.
 */
const IS_OPEN = `(kind = 'checkout' AND stage = 'sent')
    OR (kind = 'refund' AND answer = ${Answer.ACCEPTED})
    OR (kind IN ('authorization', 'checkout') AND answer = ${Answer.APPROVED} AND ended_at IS NULL
      AND captured + voided < amount + incremented)`;

/** Takes authorizations that are due for a look at Stripe, and puts their next look off. */
async function takeDueLooks(query: Query, now: Date, limit: number): Promise<string[]> {
  // A quarter of its age later, each time: 5 s to 1 min for a checkout, whose customer waits, 5 min to 12 h for the
  // others.
  const text = `UPDATE entry SET look_at = CASE WHEN ${IS_OPEN} THEN $1::timestamptz + CASE
        WHEN kind = 'checkout' AND stage = 'sent' THEN greatest(interval '5 s',
          least(interval '1 min', ($1::timestamptz - sent_at) / 4))
        ELSE greatest(interval '5 min',
          least(interval '12 h', ($1::timestamptz - coalesce(acted_at, sent_at, created_at)) / 4)) END END
    WHERE sequence IN (SELECT sequence FROM entry WHERE look_at <= $1 ORDER BY look_at LIMIT $2
      FOR UPDATE SKIP LOCKED)
    RETURNING coalesce(authorization_request_id, request_id) AS "requestId", ${IS_OPEN} AS "isOpen"`;
  const due = await query<{ requestId: string; isOpen: boolean }>(text, [now, limit]);
  return due.filter(({ isOpen }) => isOpen).map(({ requestId }) => requestId);
}
