import type { Checkout } from '../ledger/checkout.ts';
import { document } from './document.ts';
import { type Html, html } from './html.ts';
import type { Language } from './language.ts';
import { returnUrlWith } from './return-url.ts';
import type { Message } from './words/words.ts';

/** A page that says how it stands, with the way back to the merchant when there is one. */
export function messagePage(page: {
  readonly language: Language;
  readonly text: Message;
  readonly checkout?: Checkout | undefined;
  readonly approved?: boolean;
}): string {
  const { language, text, checkout, approved = false } = page;
  const main = html`<div class="message">
      ${approved ? TICK : []}
      <h1>${text.title}</h1>
      <p>${text.message}</p>
      ${checkout?.merchantReference ? html`<dl><dt>${language.words.order}</dt><dd>${checkout.merchantReference}</dd></dl>` : []}
      ${onwards(language, checkout)}
    </div>`;
  return document(language, text.title, main, 'no script');
}

function onwards({ words }: Language, checkout: Checkout | undefined): Html {
  if (!checkout?.returnUrl) return html`<p class="quiet">${words.canClose}</p>`;
  const href = returnUrlWith(checkout.returnUrl, checkout.requestId);
  return html`<p><a class="button" href="${href}">${words.returnTo(checkout.merchantName)}</a></p>`;
}

const TICK = html`<svg class="tick" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="22"/><path d="M14 25l7 7 13-15"/></svg>`;
