import assert from 'node:assert/strict';
import { code as currencyOf } from 'currency-codes';
import { type Html, html } from '../../../platform/html.ts';

/** An amount as English writes it: 1050 EUR minor units are €10.50. */
export function formatAmount(amount: number, currency: string): string {
  const digits = currencyOf(currency)?.digits;
  assert(digits !== undefined, 'a checkout is only opened in a known currency');
  // ISO 4217's exponent, not the one Intl believes in: they differ for 26 currencies.
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const text = String(amount).padStart(digits + 1, '0');
  const decimal = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  return format.format(decimal as Intl.StringNumericLiteral);
}

/** A time of day in UTC. The page's script shows it in the customer's zone instead. */
export function timeOfDay(atMs: number): Html {
  const at = new Date(atMs);
  const text = at.toLocaleTimeString('en', {
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
  return html`<time datetime="${at.toISOString()}">${text}</time>`;
}
