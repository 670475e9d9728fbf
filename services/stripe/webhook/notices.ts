import { type Announced, settleAnnounced, takeAnnounced } from '../../../platform/adapter/postgres/inbox.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { errorFields } from '../../../platform/log.ts';
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
  let isDone = false;
  try {
    const [first] = notices;
    isDone = !first || (await lookAt(context, first.item));
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) context.log.error('notice failed', errorFields(error));
  }
  for (const { key } of notices) await settleAnnounced(context.database.query, key, isDone);
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
