import type { CardTry } from '../ledger/checkout.ts';
import { formatAmount } from './amount.ts';
import { type CheckoutView, cancelForm, document } from './document.ts';
import { html } from './html.ts';
import { timeOfDay } from './time.ts';

/** The page that stands for the bank's, as 3-D Secure shows it: the customer confirms there, or does not. */
export function challengePage(page: CheckoutView & { readonly cardTry: CardTry }): string {
  const { language, checkout, entry, formToken, cardTry } = page;
  const { challenge, closesAt } = language.words;
  const amount = formatAmount(entry.amount, entry.currency, language.locale);
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
      <p class="quiet">${closesAt(timeOfDay(checkout.expiresAtMs, language))}</p>
    </div>`;
  return document(language, `${challenge.title} · ${checkout.merchantName}`, main, 'script');
}
