import { errorFields } from '../../../platform/log.ts';
import { type Desk, OutcomeUnknown } from '../desk.ts';
import { findByStripeId } from '../ledger/entry.ts';
import { type Notice, settleNotice, takeDueNotices } from '../ledger/notice.ts';
import { reconcile } from './reconcile.ts';

/** So many look at the same time, each at a few notices, so that one slow payment does not delay the others'. */
const WORKERS = 8;
const NOTICES_OF_A_TURN = 4;
/** Others work on the payment meanwhile; a notice that would wait longer comes again. */
const WAIT_MS = 1_000;

/** Deals with the notices that are due: each is a reason to look at its payment. */
export async function dealWithNotices(desk: Desk): Promise<void> {
  await Promise.all(Array.from({ length: WORKERS }, () => work(desk)));
}

async function work(desk: Desk): Promise<void> {
  for (;;) {
    const notices = await takeDueNotices(desk.database.query, NOTICES_OF_A_TURN);
    if (notices.length === 0) return;
    // Several notices of one payment need but one look.
    const payments = Map.groupBy(notices, ({ account, objectId }) => `${account}/${objectId}`);
    for (const about of payments.values()) await dealWith(desk, about as [Notice, ...Notice[]]);
  }
}

async function dealWith(desk: Desk, notices: readonly [Notice, ...Notice[]]): Promise<void> {
  let isDone = false;
  try {
    isDone = await lookAt(desk, notices[0]);
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) desk.log.error('notice failed', errorFields(error));
  }
  for (const { eventId } of notices) await settleNotice(desk.database.query, eventId, isDone);
}

/** A payment that is not of this ledger is somebody else's business on the same account. */
async function lookAt(desk: Desk, { objectId, account }: Notice): Promise<boolean> {
  const entry = await findByStripeId(desk.database.query, objectId, account);
  if (!entry) return true;
  const turn = await desk.leases.run(entry.requestId, WAIT_MS, () => reconcile(desk, entry.requestId));
  return turn?.done ?? false;
}
