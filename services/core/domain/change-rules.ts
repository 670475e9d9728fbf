/** Increments and extensions: which may be made of a hold, and their effect on its books. Amounts are minor units. */
import {
  booksOf,
  checked,
  endOf,
  endUsedUp,
  type HoldBooks,
  type HoldState,
  isOpen,
  isUsedUp,
  LARGEST_AMOUNT,
  returned,
} from './hold-rules.ts';
import type { RefusalCode } from './refusal.ts';

/** Judges an increment, in the order of docs/product.md, "Order of refusals". Returns the refusal, or undefined. */
export function judgeIncrement(hold: HoldState, amount: bigint, now: Date): RefusalCode | undefined {
  if (hold.amount + amount > LARGEST_AMOUNT) return 'AMOUNT_TOO_LARGE';
  return judgeChange(hold, 'increments', now);
}

/** Judges an extension. Returns the refusal, or undefined. */
export function judgeExtension(hold: HoldState, now: Date): RefusalCode | undefined {
  return judgeChange(hold, 'extension', now);
}

function judgeChange(hold: HoldState, ability: 'increments' | 'extension', now: Date): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (hold.capabilities?.[ability] === false) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  // When captures under way take all that is left, the authorization may be closed by now.
  const isBusy = hold.closing || hold.changing != null || hold.remaining === 0n;
  return isBusy ? 'CAPTURE_IN_FLIGHT' : undefined;
}

/**
 * Settles an increment. What it added to a hold that has closed meanwhile was given back with the rest. But when it is
 * imported, and all of the hold was captured before, no rest was given back: then the hold opens again. When it adds
 * nothing to a hold of which all was captured, or given back, meanwhile, the hold closes.
 */
export function settleIncrement(hold: HoldState, amount: bigint, ok: boolean, imported = false): HoldBooks {
  const books = { ...booksOf(hold), changing: null };
  const opens = imported && hold.captured === hold.amount && hold.allowMultipleCaptures;
  const status = opens ? 'PARTIALLY_CAPTURED' : hold.status;
  if (ok) return returned({ ...books, status, amount: hold.amount + amount }, amount);
  return isOpen(hold) && isUsedUp(books) ? endUsedUp(hold, books) : checked(books);
}

/** Settles an extension, which moves no money. */
export function settleExtension(hold: HoldState): HoldBooks {
  return checked({ ...booksOf(hold), changing: null });
}
