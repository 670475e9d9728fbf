import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { type Reversal, reversalEvent } from '../../../platform/adapter/postgres/reversals.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { type Entry, entriesOf, lockEntry, REVERSALS, saveEntry } from '../ledger/entry.ts';
import type { Item } from '../ledger/notification.ts';
import { insertEvent } from '../ledger/schema.ts';

/**
 * An amount was taken: by the card scheme, or by a refund at Adyen. Returns false while what was given again before has
 * not been notified.
 */
export async function takeAway(desk: Desk, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const { pspReference, amount } = item;
  const { requestId, currency } = authorization;
  const before = (await REVERSALS.list(query, requestId)).find((one) => one.reversalId === pspReference);
  if (before) {
    if (before.turn % 2 === 1) return false;
    await turn(desk, query, { ...before, turn: before.turn + 1 });
    return true;
  }
  const captures = (await entriesOf(query, requestId)).filter(
    ({ kind, answer }) => kind === 'capture' && answer === Answer.APPROVED,
  );
  const [capture] = captures.length === 1 ? captures : [];
  // A capture's own notification may come after.
  if (captures.length === 0) return false;
  const left = authorization.captured - authorization.refunded - authorization.reversed;
  const asked = amount.currency === currency ? BigInt(amount.value) : left;
  const taken = asked < left ? asked : left;
  if (taken !== asked || amount.currency !== currency) desk.log.error('books differ', { requestId, kind: 'reversal' });
  if (taken === 0n) return true;
  const captureRequestId = capture?.requestId ?? null;
  await turn(desk, query, {
    reversalId: pspReference,
    authorizationRequestId: requestId,
    captureRequestId,
    amount: taken,
    turn: 1,
  });
  return true;
}

/** What was taken was given again. Returns false while that it was taken has not been notified. */
export async function giveAgain(desk: Desk, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const taken = (await REVERSALS.list(query, authorization.requestId)).filter((one) => one.turn % 2 === 1);
  const reversal =
    taken.find(({ reversalId }) => reversalId === item.pspReference) ?? (taken.length === 1 ? taken[0] : undefined);
  if (!reversal) return false;
  await turn(desk, query, { ...reversal, turn: reversal.turn + 1 });
  return true;
}

/** A capture failed after it had been done: all of it that is left is taken back. */
export async function takeBackCapture(desk: Desk, query: Query, item: Item, capture: Entry): Promise<void> {
  const authorizationRequestId = capture.authorizationRequestId ?? '';
  const amount = capture.amount - capture.refunded - capture.reversed;
  const about = { authorizationRequestId, captureRequestId: capture.requestId, amount, turn: 1 };
  if (amount > 0n) await turn(desk, query, { ...about, reversalId: `failed-${item.pspReference}` });
}

async function turn(desk: Desk, query: Query, reversal: Reversal): Promise<void> {
  const { authorizationRequestId, captureRequestId, amount } = reversal;
  await REVERSALS.store(query, reversal);
  const change = reversal.turn % 2 === 1 ? amount : -amount;
  for (const requestId of [authorizationRequestId, captureRequestId]) {
    const row = requestId ? await lockEntry(query, requestId) : undefined;
    if (row) await saveEntry(query, { ...row, reversed: row.reversed + change });
  }
  await insertEvent(query, { ...reversalEvent(reversal), requestId: authorizationRequestId, occurredAt: desk.now() });
  desk.onEvent();
}
