/** What the model refuses, in the order of docs/product.md, "Order of refusals". */
import { type Ability, isAble } from '../../../../services/sandbox/behaviour.ts';
import { type Attempt, amountOf, booksOf, changeOf, type HoldModel, isClosing } from './hold-model.ts';

export function judgeCapture(hold: HoldModel, amount: number, final: boolean, now: number): string | undefined {
  if (amount > amountOf(hold)) return 'AMOUNT_EXCEEDS_HOLD';
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended === 'HOLD_EXPIRED' || ended === 'HOLD_RELEASED') return ended;
  const { captured, remaining, inFlight } = booksOf(hold);
  if (!hold.several && captured > 0) return 'MULTIPLE_CAPTURES_NOT_ALLOWED';
  if (ended) return ended;
  const leavesOpen = hold.several && !final && amount < remaining + inFlight;
  if (isCapturedOnce(hold) && (captured > 0 || leavesOpen)) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  const closes = final || !hold.several || isCapturedOnce(hold);
  if (isClosing(hold) || (closes && changeOf(hold) === 'INCREMENT')) return 'CAPTURE_IN_FLIGHT';
  if (amount <= remaining) return undefined;
  return amount <= remaining + inFlight ? 'CAPTURE_IN_FLIGHT' : 'AMOUNT_EXCEEDS_HOLD';
}

/** What is refunded of a capture; with those that have no result yet, what is reserved, too. */
export function refundedOf(hold: HoldModel, key: string, states: readonly Attempt['state'][]): number {
  const refunds = hold.attempts.filter(
    ({ kind, of, state }) => kind === 'REFUND' && of === key && states.includes(state),
  );
  return refunds.reduce((sum, { amount }) => sum + amount, 0);
}

/** Refunds of what the card scheme reverses are not played. */
export function judgeRefund(hold: HoldModel, key: string, amount: number): string | undefined {
  const capture = hold.attempts.find((attempt) => attempt.key === key);
  if (!capture) return 'CAPTURE_NOT_FOUND';
  if (amount > capture.amount || capture.state === 'KO') return 'AMOUNT_EXCEEDS_CAPTURE';
  if (capture.state === 'OPEN') return 'CAPTURE_NOT_SETTLED';
  if (!isAble(hold.token, 'refunds')) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  if (amount <= capture.amount - refundedOf(hold, key, ['OK', 'OPEN'])) return undefined;
  return amount <= capture.amount - refundedOf(hold, key, ['OK']) ? 'CAPTURE_NOT_SETTLED' : 'AMOUNT_EXCEEDS_CAPTURE';
}

/** Whether the processor allows only one capture of this authorization. */
export function isCapturedOnce({ token }: HoldModel): boolean {
  return !isAble(token, 'severalCaptures');
}

/** Whether the merchant may release the rest, or cancel the checkout. */
export function judgeRelease(hold: HoldModel, now: number): string | undefined {
  if (hold.byCheckout && hold.placing === 'OPEN') return isClosing(hold) ? 'CAPTURE_IN_FLIGHT' : undefined;
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  const busy = isClosing(hold) || booksOf(hold).inFlight > 0 || changeOf(hold) === 'INCREMENT';
  return endOf(hold, now) ?? (hold.frozen ? 'HOLD_FROZEN' : busy ? 'CAPTURE_IN_FLIGHT' : undefined);
}

/** Whether the merchant may add to the hold, or let it end later. */
export function judgeChange(hold: HoldModel, ability: Ability, now: number): string | undefined {
  if (hold.placing !== 'OK') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (!isAble(hold.token, ability)) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  const busy = isClosing(hold) || changeOf(hold) !== undefined || booksOf(hold).remaining === 0;
  return busy ? 'CAPTURE_IN_FLIGHT' : undefined;
}

function endOf(hold: HoldModel, now: number): string | undefined {
  if (hold.closedBy === undefined) {
    if (hold.endedAs) return hold.endedAs === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_RELEASED';
    return hold.expiresAt <= now ? 'HOLD_EXPIRED' : undefined;
  }
  const { released } = booksOf(hold);
  if (hold.closedBy === 'FINAL' || released === 0) return 'HOLD_CAPTURED';
  return hold.closedBy === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_RELEASED';
}
