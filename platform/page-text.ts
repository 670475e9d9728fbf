/** Amounts and times as the pages for customers show them. */
import assert from 'node:assert/strict';
import { digitsOf } from './currencies.ts';
import { type Html, html } from './html.ts';

/** An amount as English writes it: 1050 EUR minor units are €10.50. */
export function formatAmount(amount: number | bigint, currency: string): string {
  const digits = digitsOf(currency);
  assert(digits !== undefined, 'a page is only opened in a known currency');
  // ISO 4217's exponent, not the one Intl believes in: they differ for 26 currencies.
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(`${amount}E-${digits}` as Intl.StringNumericLiteral);
}

/** A time of day in UTC. A page's script shows it in the customer's zone instead. */
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
