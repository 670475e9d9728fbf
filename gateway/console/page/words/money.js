import { CURRENT_DIGITS, FORMER_DIGITS } from './currency-table.js';

/**
 * How many digits a currency has after the point. Browsers are not asked: Chromium takes CLDR's, which differ for 29
 * codes (HUF has none there).
 */
export function digitsOf(currency) {
  return CURRENT_DIGITS[currency] ?? FORMER_DIGITS[currency] ?? 2;
}

/** Minor units as a plain number: 1050 EUR is 10.50. */
export function toDecimal(amount, currency) {
  const digits = digitsOf(currency);
  const text = String(amount).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Minor units in the currency's own format: 1050 EUR is €10.50. */
export function formatAmount(amount, currency) {
  const digits = digitsOf(currency);
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(toDecimal(amount, currency));
}

/**
 * Reads an amount that somebody typed, from 1 to `most` minor units: `{ amount }`, or `{ error }` that says what to
 * correct. A comma is refused, for it means one thing here and another there.
 */
export function parseAmount(text, currency, most) {
  const digits = digitsOf(currency);
  const [, whole, fraction = ''] = /^([0-9]{1,12})(?:\.([0-9]+))?$/.exec(text.trim()) ?? [];
  if (!whole) return { error: `Write the amount in ${currency} like ${toDecimal(10 ** digits * 4, currency)}.` };
  if (fraction.length > digits) return { error: `${currency} has ${digits || 'no'} digits after the point.` };
  const amount = Number(whole + fraction.padEnd(digits, '0'));
  if (amount === 0) return { error: 'The amount must be more than zero.' };
  if (amount > most) return { error: `No more than ${formatAmount(most, currency)} is possible.` };
  return { amount };
}
