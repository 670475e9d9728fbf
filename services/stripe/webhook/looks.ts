/** What makes the adapter look at a payment: Stripe has announced something about it, or its time has come. */

import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { type Announced, settleAnnounced, takeAnnounced } from '../../../platform/adapter/postgres/inbox.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { errorFields } from '../../../platform/log.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ask } from '../api/ask.ts';
import { type Entry, findByStripeId } from '../ledger/entry.ts';
import { getSession } from '../settlement/checkout.ts';
import { getIntent } from '../settlement/intent-ending.ts';
import { adoptIntent, adoptSession } from './adopt.ts';
import type { Notice } from './receive.ts';
import { reconcile } from './reconcile.ts';

/** So many look at the same time, each at a few notices, so that one slow payment does not delay the others'. */
const WORKERS = 8;
const NOTICES_OF_A_TURN = 4;
/** Others work on the payment meanwhile; a notice that would wait longer comes again. */
const WAIT_MS = 1_000;

/** Deals with the notices that are due: each is a reason to look at its payment. */
export async function dealWithNotices(context: Context): Promise<void> {
  await Promise.all(Array.from({ length: WORKERS }, () => work(context)));
}

async function work(context: Context): Promise<void> {
  for (;;) {
    const notices = await takeAnnounced<Notice>(context.database.query, NOTICES_OF_A_TURN);
    if (notices.length === 0) return;
    // Several notices of one payment need but one look.
    const payments = Map.groupBy(notices, ({ item }) => `${item.account}/${item.objectId}`);
    for (const about of payments.values()) await dealWith(context, about);
  }
}

async function dealWith(context: Context, notices: readonly Announced<Notice>[]): Promise<void> {
  const [first] = notices;
  const isDone = first && (await unlessUnknown(context, 'notice failed', () => lookAt(context, first.item)));
  for (const { key } of notices) await settleAnnounced(context.database.query, key, isDone ?? false);
}

async function lookAt(context: Context, { objectId, account }: Notice): Promise<boolean> {
  const known = await findByStripeId(context.database.query, objectId, account);
  const entry = known ?? (await adoptById(context, objectId, account));
  if (!entry) return true;
  const turn = await context.leases.run(entry.requestId, WAIT_MS, () => reconcile(context, entry.requestId));
  return turn?.done ?? false;
}

/** A payment that does not name an identifier of ours is somebody else's business on the same account. */
async function adoptById(context: Context, objectId: string, account: string): Promise<Entry | undefined> {
  const adoptNow = async () =>
    objectId.startsWith('pi_')
      ? adoptIntent(context, await getIntent(context, { intentId: objectId, account }), account)
      : adoptSession(context, await getSession(context, { sessionId: objectId, account }), account);
  const { answer, failure } = await ask(context, async () => ({ entry: await adoptNow() }));
  if (failure && failure.kind !== 'refused') throw new OutcomeUnknown('Stripe did not answer');
  return answer?.entry;
}

/** So many in a turn of a second: a look is two or three requests, and Stripe takes 100 a second (25 of a test key). */
const LOOKS_OF_A_TURN = 5;

/**
 * Looks at the payments that are due. Where webhooks arrive this finds nothing new; where none do, as on a laptop
 * without `stripe listen`, or while Stripe cannot reach the adapter, it finds what they would have announced.
 */
export async function lookAround(context: Context): Promise<void> {
  const due = await takeDueLooks(context.database.query, context.now(), LOOKS_OF_A_TURN);
  // A payment that others work on is theirs to settle; its next look comes.
  const look = (requestId: string) => context.leases.run(requestId, 0, () => reconcile(context, requestId));
  await Promise.all(due.map((requestId) => unlessUnknown(context, 'look failed', () => look(requestId))));
}

/** Looks, and logs what goes wrong. What Stripe does not say yet is no fault: it is looked at again. */
async function unlessUnknown<T>(context: Context, failure: string, look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) context.log.error(failure, errorFields(error));
    return undefined;
  }
}

/**
 * What may change at Stripe without a call of core's: an open page, a live authorization, a refund that Stripe has
 * taken.
 */
const IS_AT_PAGE = `((kind = 'checkout' AND stage = 'sent')
    OR (kind = 'authorization' AND stage IN ('sent', 'fencing') AND answer = ${Answer.ACCEPTED}))`;
const IS_OPEN = `${IS_AT_PAGE}
    OR (kind = 'refund' AND answer = ${Answer.ACCEPTED})
    OR (kind IN ('authorization', 'checkout') AND answer = ${Answer.APPROVED} AND ended_at IS NULL
      AND captured + voided < amount + incremented)`;

/** Takes authorizations that are due for a look at Stripe, and puts their next look off. */
async function takeDueLooks(query: Query, now: Date, limit: number): Promise<string[]> {
  // A quarter of its age later, each time: 5 s to 1 min for a page, whose customer waits, 5 min to 12 h for the
  // others.
  const text = `UPDATE entry SET look_at = CASE WHEN ${IS_OPEN} THEN $1::timestamptz + CASE
        WHEN ${IS_AT_PAGE} THEN greatest(interval '5 s',
          least(interval '1 min', ($1::timestamptz - sent_at) / 4))
        ELSE greatest(interval '5 min',
          least(interval '12 h', ($1::timestamptz - coalesce(acted_at, sent_at, created_at)) / 4)) END END
    WHERE sequence IN (SELECT sequence FROM entry WHERE look_at <= $1 ORDER BY look_at LIMIT $2
      FOR UPDATE SKIP LOCKED)
    RETURNING coalesce(authorization_request_id, request_id) AS "requestId", ${IS_OPEN} AS "isOpen"`;
  const due = await query<{ requestId: string; isOpen: boolean }>(text, [now, limit]);
  return due.filter(({ isOpen }) => isOpen).map(({ requestId }) => requestId);
}
