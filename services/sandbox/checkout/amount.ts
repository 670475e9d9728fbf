import assert from 'node:assert/strict';
import { code as currencyOf } from 'currency-codes';

/** An amount in the currency's own format, as the locale writes it: 1050 EUR minor units are €10.50 in English. */
export function formatAmount(amount: number, currency: string, locale: string): string {
  const digits = currencyOf(currency)?.digits;
  assert(digits !== undefined, 'a checkout is only opened in a known currency');
  // ISO 4217's exponent, not the one Intl believes in: they differ for 26 currencies.
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const text = String(amount).padStart(digits + 1, '0');
  const decimal = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  return format.format(decimal as Intl.StringNumericLiteral);
}
