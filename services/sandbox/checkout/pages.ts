/** Every page of the checkout. */
import { type Html, html } from '../../../platform/html.ts';
import { formatAmount, timeOfDay } from '../../../platform/page-text.ts';
import type { CardTry, Checkout } from '../ledger/checkout.ts';
import type { FieldName, Fields, Mistakes } from './form.ts';
import type { OpenedCheckout } from './submit.ts';
import { aboutCard, groupInFours, TEST_CARDS } from './test-card.ts';

/** A checkout that is open, with the hidden token of its forms. */
type Open = OpenedCheckout & { readonly formToken: string };

/**
 * The page on which a customer enters a card, or corrects it, or enters another after one that was declined. Works
 * without JavaScript.
 */
export function formPage({ checkout, entry, cardTry, formToken, errors, typed }: Open & Partial<Mistakes>): string {
  const { merchantName, merchantReference, description, saveCard } = checkout;
  const amount = formatAmount(entry.amount, entry.currency);
  const problem = (errors && corrections(errors)) ?? (cardTry && refusal(cardTry));
  const main = html`<section class="order" aria-labelledby="title">
      <p class="merchant"><span class="initial" aria-hidden="true">${initialOf(merchantName)}</span> ${merchantName}</p>
      <h1 id="title">Reserve ${amount}</h1>
      <p>${merchantName} reserves this amount on your card. Nothing is charged now.</p>
      ${description && html`<p>${description}</p>`}
      ${orderOf(merchantReference)}
    </section>
    <section aria-labelledby="card">
      <h2 id="card">Your card</h2>
      ${problem && html`<div class="alert" role="alert"><h3>${problem.title}</h3>${problem.text}</div>`}
      <form method="post" autocomplete="on" novalidate data-card>
        <input type="hidden" name="formToken" value="${formToken}">
        ${cardFields(typed ?? typedBefore(cardTry), errors, cardTry)}
        ${saveCard ? html`<p class="quiet">${merchantName} will keep a token of this card for later payments.</p>` : ''}
        <button type="submit">Reserve ${amount}</button>
      </form>
      ${cancelForm(checkout, formToken)}
      <p class="quiet">Your card number goes to the card processor only. ${merchantName} does not see it.</p>
      ${closesAt(checkout)}
      ${TEST_CARD_TABLE}
    </section>`;
  return page(`${problem?.title ?? 'Your card'} · ${merchantName}`, main);
}

function initialOf(name: string): string {
  return [...name.trim()][0]?.toLocaleUpperCase() ?? '';
}

const orderOf = (reference = '') => reference && html`<dl><dt>Order</dt><dd>${reference}</dd></dl>`;

/** In their order on the page. */
const FIELDS: readonly Field[] = [
  { name: 'number', label: 'Card number', autocomplete: 'cc-number', maxlength: 31 },
  { name: 'expiry', label: 'Expiry date', autocomplete: 'cc-exp', maxlength: 9, hint: 'Month / year, like 08/31' },
  { name: 'cvc', label: 'Security code', autocomplete: 'cc-csc', maxlength: 4, hint: '3 or 4 digits on the card' },
];

interface Field {
  readonly name: FieldName;
  readonly label: string;
  readonly autocomplete: string;
  readonly maxlength: number;
  readonly hint?: string;
}

/** Of a declined card the date alone was kept. */
function typedBefore(declined: CardTry | undefined): Fields {
  if (!declined) return {};
  const month = String(declined.cardExpiryMonth).padStart(2, '0');
  return { expiry: `${month}/${declined.cardExpiryYear % 100}` };
}

/** The first field to correct has the focus; after a decline, the number. */
function cardFields(typed: Fields, errors: Fields = {}, declined?: CardTry): Html {
  const focused = FIELDS.find(({ name }) => errors[name])?.name ?? (declined && 'number');
  const [number, ...pair] = FIELDS.map((field) => {
    const { name, label, autocomplete, maxlength, hint } = field;
    const error = errors[name];
    const describedBy = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
    return html`<div class="field">
          <label for="${name}">${label}</label>
          ${hint && html`<span class="quiet" id="${name}-hint">${hint}</span>`}
          <input id="${name}" name="${name}" inputmode="numeric" autocomplete="${autocomplete}" maxlength="${maxlength}"
            value="${typed[name]}" spellcheck="false" required
            ${describedBy && html`aria-describedby="${describedBy}"`}
            ${error && html`aria-invalid="true"`} ${focused === name ? html`autofocus` : ''}>
          ${error && html`<span class="error" id="${name}-error">${error}</span>`}
        </div>`;
  });
  return html`${number}
        <div class="pair">${pair}</div>`;
}

function corrections(errors: Fields) {
  const wrong = FIELDS.filter(({ name }) => errors[name]);
  const items = wrong.map(({ name }) => html`<li><a href="#${name}">${errors[name]}</a></li>`);
  return { title: 'Please correct', text: html`<ul>${items}</ul>` };
}

function refusal({ errorCode, cardLast4 }: CardTry) {
  const why = DECLINES[errorCode] ?? DO_NOT_HONOR;
  return {
    title: 'Card declined',
    text: html`<p>${why(`card ending in ${cardLast4}`)} Try again or use another card.</p>`,
  };
}

const DO_NOT_HONOR = (card: string) => `The bank declined the ${card}. Nothing was reserved.`;

/** Why a card was declined, by its error code. */
const DECLINES: Readonly<Record<string, (card: string) => string>> = {
  insufficient_funds: (card) => `The account of the ${card} has insufficient funds.`,
  token_invalid: (card) => `The bank does not know the ${card}.`,
  challenge_failed: (card) => `The payment with the ${card} was not confirmed with its bank.`,
  no_answer: (card) => `The bank of the ${card} did not answer. Nothing was reserved.`,
};

/** Ends the checkout; leads back to the merchant when there is a way. */
function cancelForm({ returnUrl, merchantName }: Checkout, formToken: string): Html {
  return html`<form method="post">
      <input type="hidden" name="formToken" value="${formToken}">
      <button type="submit" class="secondary" name="action" value="cancel">${
        returnUrl ? `Cancel and return to ${merchantName}` : 'Cancel'
      }</button>
    </form>`;
}

function closesAt({ expiresAtMs }: Checkout): Html {
  return html`<p class="quiet">This page closes at ${timeOfDay(expiresAtMs)}.</p>`;
}

/** The cards that the sandbox takes, and what each does. */
const TEST_CARD_TABLE = html`<details>
        <summary>Test cards</summary>
        <p class="quiet">Use any future expiry date and any security code.</p>
        <div class="scroll" tabindex="0" role="region" aria-label="Test cards"><table>
          <thead><tr><th scope="col">Number</th><th scope="col">What happens</th></tr></thead>
          <tbody>${TEST_CARDS.map(
            (card) => html`<tr><td class="number">${groupInFours(card.number)}</td><td>${aboutCard(card)}</td></tr>`,
          )}</tbody>
        </table></div>
      </details>`;

/** The page that stands for the bank's, as 3-D Secure shows it: the customer confirms there, or does not. */
export function challengePage({ checkout, entry, cardTry, formToken }: Open): string {
  const { merchantName } = checkout;
  const amount = formatAmount(entry.amount, entry.currency);
  const title = 'Confirm with your bank';
  const main = html`<div class="message">
      <h1>${title}</h1>
      <p>Your bank asks whether you reserve ${amount} for ${merchantName} with the card ending in ${cardTry?.cardLast4}.</p>
      <p class="quiet">This page stands for your bank&#39;s: choose what it answers.</p>
      <form method="post">
        <input type="hidden" name="formToken" value="${formToken}">
        <input type="hidden" name="challenge" value="${cardTry?.number}">
        <button type="submit" name="action" value="pass">Confirm</button>
        <button type="submit" name="action" value="fail" class="secondary">Refuse</button>
      </form>
      ${entry.kind === 'checkout' ? cancelForm(checkout, formToken) : ''}
      ${closesAt(checkout)}
    </div>`;
  return page(`${title} · ${merchantName}`, main);
}

/** What a page of text says. */
export type Message = readonly [title: string, text: string];

/** How a checkout ended. */
export function endPage({ checkout, entry }: OpenedCheckout, standing: keyof typeof ENDS): string {
  const amount = formatAmount(entry.amount, entry.currency);
  const ends = entry.kind === 'checkout' ? ENDS : { ...ENDS, ...STEP_UP_ENDS };
  return messagePage(ends[standing](checkout.merchantName, amount), checkout, standing === 'approved');
}

const ENDS = {
  approved: (merchant, amount) => ['Reserved', `${amount} is reserved for ${merchant}. Nothing is charged now.`],
  failed: (merchant) => [
    'Not reserved',
    `The card processor had a problem. Nothing was reserved. Ask ${merchant} for a new page.`,
  ],
  expired: () => ['Page closed', 'The time to enter a card is over. Nothing was reserved.'],
  cancelled: () => ['Cancelled', 'This checkout was cancelled. Nothing was reserved.'],
} as const satisfies Record<string, (merchant: string, amount: string) => Message>;

/** How an authorization ended that waited for its customer. */
const STEP_UP_ENDS = {
  failed: () => ['Not reserved', 'The payment was not confirmed with your bank. Nothing was reserved.'],
  expired: () => ['Page closed', 'The time to confirm is over. Nothing was reserved.'],
  cancelled: () => ['Cancelled', 'This payment was cancelled. Nothing was reserved.'],
} as const satisfies Record<string, () => Message>;

/** A page of text, with the way back to the merchant when there is one. */
export function messagePage([title, text]: Message, checkout?: Checkout, isApproved = false): string {
  const onwards = checkout?.returnUrl
    ? html`<p><a class="button" href="${checkout.returnUrl}">Return to ${checkout.merchantName}</a></p>`
    : html`<p class="quiet">You can close this page.</p>`;
  const main = html`<div class="message">
      ${isApproved ? TICK : ''}
      <h1>${title}</h1>
      <p>${text}</p>
      ${orderOf(checkout?.merchantReference)}
      ${onwards}
    </div>`;
  return page(title, main);
}

const TICK = html`<svg class="tick" viewBox="0 0 48 48" aria-hidden="true">
  <circle cx="24" cy="24" r="22"/><path d="M14 25l7 7 13-15"/>
</svg>`;

function page(title: string, main: Html): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="stylesheet" href="../checkout.css">
    <script src="../checkout.js" type="module"></script>
  </head>
  <body>
    <header class="sandbox">Sandbox: no real money</header>
    <main>${main}</main>
  </body>
</html>
`.text;
}
