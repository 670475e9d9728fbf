import { bookTurn, firstTurn, type Reversal, reversalsOf } from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, type Entry } from '../ledger/entry.ts';
import type { Item } from '../ledger/notification.ts';

/**
 * An amount was taken: by the card scheme, or by a refund at Adyen. Returns false while what was given again before has
 * not been notified.
 */
export async function takeAway(context: Context, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const { pspReference, amount } = item;
  const { requestId, currency, captured } = authorization;
  const before = (await reversalsOf(query, requestId)).find((one) => one.reversalId === pspReference);
  if (before) {
    if (before.turn % 2 === 1) return false;
    await turn(context, query, { ...before, turn: before.turn + 1 });
    return true;
  }
  // A capture's own notification may come after.
  if (captured === 0n) return false;
  const asked = amount.currency === currency ? BigInt(amount.value) : undefined;
  const first = firstTurn(authorization, await ENTRIES.ofAuthorization(query, requestId), pspReference, asked);
  if (first?.amount !== asked) context.log.error('books differ', { requestId, kind: 'reversal' });
  if (first) await turn(context, query, first);
  return true;
}

/** What was taken was given again. Returns false while that it was taken has not been notified. */
export async function giveAgain(context: Context, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const taken = (await reversalsOf(query, authorization.requestId)).filter((one) => one.turn % 2 === 1);
  const reversal =
    taken.find(({ reversalId }) => reversalId === item.pspReference) ?? (taken.length === 1 ? taken[0] : undefined);
  if (!reversal) return false;
  await turn(context, query, { ...reversal, turn: reversal.turn + 1 });
  return true;
}

/** A capture failed after it had been done: all of it that is left is taken back. */
export async function takeBackCapture(context: Context, query: Query, item: Item, capture: Entry): Promise<void> {
  const authorizationRequestId = capture.authorizationRequestId ?? '';
  const amount = capture.amount - capture.refunded - capture.reversed;
  const about = { authorizationRequestId, captureRequestId: capture.requestId, amount, turn: 1 };
  if (amount > 0n) await turn(context, query, { ...about, reversalId: `failed-${item.pspReference}` });
}

async function turn(context: Context, query: Query, reversal: Reversal): Promise<void> {
  await bookTurn(query, reversal, context.now());
  context.onEvent();
}
