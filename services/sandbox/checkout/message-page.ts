import { type Html, html } from '../../../platform/html.ts';
import type { CardTry, Checkout } from '../ledger/checkout.ts';
import { type CheckoutView, cancelForm, document } from './document.ts';
import { formatAmount, timeOfDay } from './format.ts';
import { type Message, WORDS } from './words.ts';

/** A page that says how it stands, with the way back to the merchant when there is one. */
export function messagePage(page: {
  readonly text: Message;
  readonly checkout?: Checkout | undefined;
  readonly approved?: boolean;
}): string {
  const { text, checkout, approved = false } = page;
  const main = html`<div class="message">
      ${approved ? TICK : []}
      <h1>${text.title}</h1>
      <p>${text.message}</p>
      ${checkout?.merchantReference ? html`<dl><dt>${WORDS.order}</dt><dd>${checkout.merchantReference}</dd></dl>` : []}
      ${onwards(checkout)}
    </div>`;
  return document(text.title, main, 'no script');
}

function onwards(checkout: Checkout | undefined): Html {
  if (!checkout?.returnUrl) return html`<p class="quiet">${WORDS.canClose}</p>`;
  return html`<p><a class="button" href="${checkout.returnUrl}">${WORDS.returnTo(checkout.merchantName)}</a></p>`;
}

const TICK = html`<svg class="tick" viewBox="0 0 48 48" aria-hidden="true">
  <circle cx="24" cy="24" r="22"/><path d="M14 25l7 7 13-15"/>
</svg>`;

/** The page that stands for the bank's, as 3-D Secure shows it: the customer confirms there, or does not. */
export function challengePage(page: CheckoutView & { readonly cardTry: CardTry }): string {
  const { checkout, entry, formToken, cardTry } = page;
  const { challenge, closesAt } = WORDS;
  const amount = formatAmount(entry.amount, entry.currency);
  const main = html`<div class="message">
      <h1>${challenge.title}</h1>
      <p>${challenge.ask(checkout.merchantName, amount, cardTry.cardLast4)}</p>
      <p class="quiet">${challenge.sandbox}</p>
      <form method="post" class="answers">
        <input type="hidden" name="formToken" value="${formToken}">
        <input type="hidden" name="challenge" value="${cardTry.number}">
        <button type="submit" name="action" value="pass">${challenge.pass}</button>
        <button type="submit" name="action" value="fail" class="secondary">${challenge.fail}</button>
      </form>
      ${cancelForm(page)}
      <p class="quiet">${closesAt(timeOfDay(checkout.expiresAtMs))}</p>
    </div>`;
  return document(`${challenge.title} · ${checkout.merchantName}`, main, 'script');
}
