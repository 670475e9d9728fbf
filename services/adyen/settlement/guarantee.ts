import type { Entry } from '../ledger/entry.ts';

/** Days for which a card scheme guarantees an authorization that the customer, or the merchant, initiated. */
interface Days {
  readonly customer: number;
  readonly merchant: number;
  /** Of a PreAuth; absent = as the others. */
  readonly preAuth?: number;
}

const always = (days: number): Days => ({ customer: days, merchant: days });

/**
 * By the beginning of Adyen's name of the card: the validity of docs.adyen.com/online-payments/adjust-authorisation of
 * 2026-09-15, for cards that are not present; where kinds of cards differ, the shorter one. Adyen's answers do not say
 * it, and Adyen reserves longer. Longer ones of some merchant categories, and other schemes: ADYEN_GUARANTEE_DAYS.
 */
const SCHEMES: Readonly<Record<string, Days>> = {
  visa: { customer: 10, merchant: 5 },
  electron: always(5),
  mc: { ...always(7), preAuth: 30 },
  amex: always(7),
  cartebancaire: always(12),
  discover: always(10),
  diners: always(7),
  cup: always(30),
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days by the beginning of Adyen's name of a card, as an operator has set them. */
export type GuaranteeDays = Readonly<Record<string, number>>;

/** How long the card scheme guarantees an approved authorization, never after its end; null = not known. */
export function guaranteedUntil(entry: Entry, isPreAuth: boolean, chosen: GuaranteeDays): Date | null {
  const { kind, cardBrand, customerPresent, actedAt, expiresAt } = entry;
  if (kind !== 'authorization' || !actedAt || !expiresAt) return null;
  const days = ofBrand(cardBrand, chosen) ?? daysOf(ofBrand(cardBrand, SCHEMES), isPreAuth, customerPresent);
  return days === undefined ? null : new Date(Math.min(actedAt.getTime() + days * DAY_MS, expiresAt.getTime()));
}

function daysOf(scheme: Days | undefined, isPreAuth: boolean, customerPresent: boolean): number | undefined {
  if (isPreAuth && scheme?.preAuth !== undefined) return scheme.preAuth;
  return customerPresent ? scheme?.customer : scheme?.merchant;
}

/** The value of the longest name with which a brand begins. */
function ofBrand<T>(brand: string, byName: Readonly<Record<string, T>>): T | undefined {
  const names = Object.keys(byName).filter((name) => brand.startsWith(name));
  const longest = names.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : byName[longest];
}
