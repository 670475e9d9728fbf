import { type Html, html } from '../../../platform/html.ts';
import type { Checkout } from '../ledger/checkout.ts';
import type { Entry } from '../ledger/entry.ts';
import { formatAmount } from './format.ts';
import { WORDS } from './words.ts';

/** What a page of an open checkout shows. */
export interface CheckoutView {
  readonly checkout: Checkout;
  readonly entry: Entry;
  readonly formToken: string;
}

/** A whole page. Only a page with a form has the script, which it can do without. */
export function document(title: string, main: Html, script: 'script' | 'no script'): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="stylesheet" href="../checkout.css">
    ${script === 'script' ? html`<script src="../checkout.js" type="module"></script>` : []}
  </head>
  <body>
    <header class="sandbox">${WORDS.sandbox}</header>
    <main>${main}</main>
  </body>
</html>
`.text;
}

/** Who asks, for how much, and for which order. */
export function orderSummary({ checkout, entry }: CheckoutView): Html {
  const { merchantName, merchantReference, description } = checkout;
  return html`<section class="order" aria-labelledby="title">
      <p class="merchant"><span class="initial" aria-hidden="true">${initialOf(merchantName)}</span> ${merchantName}</p>
      <h1 id="title">${WORDS.reserve(formatAmount(entry.amount, entry.currency))}</h1>
      <p>${WORDS.nothingCharged(merchantName)}</p>
      ${description ? html`<p>${description}</p>` : []}
      ${merchantReference ? html`<dl><dt>${WORDS.order}</dt><dd>${merchantReference}</dd></dl>` : []}
    </section>`;
}

/** Ends the checkout; leads back to the merchant when there is a way. */
export function cancelForm({ checkout, formToken }: CheckoutView): Html {
  const label = checkout.returnUrl ? WORDS.cancelAndReturn(checkout.merchantName) : WORDS.cancel;
  return html`<form method="post" class="cancel">
      <input type="hidden" name="formToken" value="${formToken}">
      <button type="submit" class="secondary" name="action" value="cancel">${label}</button>
    </form>`;
}

function initialOf(name: string): string {
  return [...name.trim()][0]?.toLocaleUpperCase() ?? '';
}
