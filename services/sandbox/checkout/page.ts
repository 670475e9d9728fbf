import type { Checkout } from '../ledger/checkout.ts';
import type { Entry } from '../ledger/entry.ts';
import { formatAmount } from './amount.ts';
import type { FieldErrors, FieldName } from './form.ts';
import { type Html, html } from './html.ts';
import { returnUrlWith } from './return-url.ts';
import { TEST_CARDS } from './test-card.ts';

/** What the form shows. */
export interface FormPage {
  readonly checkout: Checkout;
  readonly entry: Entry;
  readonly formToken: string;
  readonly errors?: FieldErrors;
  /** Typed before, shown again; number and security code never are. */
  readonly expiry?: string;
}

/** The page on which a customer enters a card. Works without JavaScript. */
export function formPage(page: FormPage): string {
  const { checkout, entry, errors = {} } = page;
  const amount = formatAmount(entry.amount, entry.currency);
  const closesAt = new Date(checkout.expiresAtMs).toISOString();
  const failed = Object.keys(errors).length > 0;
  return document(
    `${failed ? 'Correct your card details' : 'Your card'} · ${checkout.merchantName}`,
    html`<p class="sandbox">Sandbox: no real money</p>
    <h1>Reserve <span class="amount">${amount}</span></h1>
    <p><strong>${checkout.merchantName}</strong> asks to reserve this amount on your card. Nothing is charged now.</p>
    ${summary(errors)}
    <form method="post" autocomplete="on" novalidate>
      <input type="hidden" name="formToken" value="${page.formToken}">
      ${field({ name: 'number', label: 'Card number', autocomplete: 'cc-number', maxlength: 23, errors })}
      <div class="pair">
        ${field({
          ...{ name: 'expiry', label: 'Expiry date', autocomplete: 'cc-exp', maxlength: 9, errors },
          ...{ hint: 'Month / year, like 08/31', value: page.expiry ?? '' },
        })}
        ${field({
          ...{ name: 'cvc', label: 'Security code', autocomplete: 'cc-csc', maxlength: 4, errors },
          hint: '3 or 4 digits on the card',
        })}
      </div>
      ${checkout.saveCard ? html`<p>${checkout.merchantName} will keep a token of this card for later payments.</p>` : []}
      <button type="submit">Reserve ${amount}</button>
    </form>
    <p class="quiet">This page closes at <time datetime="${closesAt}">${closesAt.slice(11, 16)} UTC</time>.</p>
    ${testCards()}`,
  );
}

/** A page that says how it stands, with the way back to the merchant when there is one. */
export function messagePage(title: string, message: string, checkout?: Checkout): string {
  const back = checkout?.returnUrl
    ? html`<p><a href="${returnUrlWith(checkout.returnUrl, checkout.requestId)}">Return to ${checkout.merchantName}</a></p>`
    : html`<p class="quiet">You can close this page.</p>`;
  return document(title, html`<h1>${title}</h1><p>${message}</p>${back}`);
}

interface Field {
  readonly name: FieldName;
  readonly label: string;
  readonly autocomplete: string;
  readonly maxlength: number;
  readonly errors: FieldErrors;
  readonly hint?: string;
  readonly value?: string;
}

const FIELDS: readonly FieldName[] = ['number', 'expiry', 'cvc'];

function field({ name, label, autocomplete, maxlength, errors, hint, value = '' }: Field): Html {
  const error = errors[name];
  const isFirstError = error !== undefined && FIELDS.find((one) => errors[one]) === name;
  const describedBy = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
        <label for="${name}">${label}</label>
        ${hint ? html`<span class="quiet" id="${name}-hint">${hint}</span>` : []}
        <input id="${name}" name="${name}" inputmode="numeric" autocomplete="${autocomplete}" maxlength="${maxlength}"
          value="${value}" spellcheck="false" required ${describedBy ? html`aria-describedby="${describedBy}"` : []}
          ${error ? html`aria-invalid="true"` : []} ${isFirstError ? html`autofocus` : []}>
        ${error ? html`<span class="error" id="${name}-error">${error}</span>` : []}
      </div>`;
}

function summary(errors: FieldErrors): Html {
  const wrong = FIELDS.filter((name) => errors[name]);
  if (wrong.length === 0) return html``;
  const items = wrong.map((name) => html`<li><a href="#${name}">${errors[name] ?? ''}</a></li>`);
  return html`<div class="summary" role="alert"><h2>Please correct</h2><ul>${items}</ul></div>`;
}

function testCards(): Html {
  const rows = TEST_CARDS.map(
    ({ number, what }) =>
      html`<tr><td class="number">${number.replace(/(.{4})(?=.)/g, '$1 ')}</td><td>${what}</td></tr>`,
  );
  return html`<details>
      <summary>Test cards</summary>
      <p class="quiet">Any expiry date to come goes with them, and any security code.</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Test cards"><table>
        <thead><tr><th scope="col">Number</th><th scope="col">What happens</th></tr></thead>
        <tbody>${rows}</tbody>
      </table></div>
    </details>`;
}

function document(title: string, main: Html): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="stylesheet" href="../checkout.css">
  </head>
  <body>
    <main>${main}</main>
  </body>
</html>
`.markup;
}
