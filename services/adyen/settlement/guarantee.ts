import type { Entry } from '../ledger/entry.ts';

/** Days for which a card scheme guarantees an authorization that the customer, or the merchant, initiated. */
interface Days {
  readonly customer: number;
  readonly merchant: number;
  /** Of a PreAuth; absent = as the others. */
  readonly preAuth?: number;
}

/**
 * By the beginning of Adyen's name of the card. Adyen does not say it, and reserves longer. As the schemes' rules for
 * cards that are not present were in September 2026: Visa Core Rules of 2026-04-18 (10 days, since April 2024 5 when
 * the merchant initiates it), Mastercard Transaction Processing Rules of December 2025 (7 days; a pre-authorization 30),
 * American Express 7. Longer ones of some merchant categories, and other schemes: ADYEN_GUARANTEE_DAYS.
 */
const SCHEMES: Readonly<Record<string, Days>> = {
  visa: { customer: 10, merchant: 5 },
  mc: { customer: 7, merchant: 7, preAuth: 30 },
  amex: { customer: 7, merchant: 7 },
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
