import { type Html, html } from '../../../platform/html.ts';
import { BEHAVIOURS } from '../behaviour.ts';
import type { CardTry } from '../ledger/checkout.ts';
import { type CheckoutView, cancelForm, document, orderSummary } from './document.ts';
import type { FieldErrors, FieldName, Typed } from './form.ts';
import { formatAmount, timeOfDay } from './format.ts';
import { groupInFours, TEST_CARDS, type TestCard } from './test-card.ts';
import { type Decline, WORDS } from './words.ts';

/** What the form shows. */
interface FormPage extends CheckoutView {
  /** The card before, when it was declined. */
  readonly cardTry?: CardTry | undefined;
  readonly errors?: FieldErrors;
  /** Typed before, shown again. */
  readonly typed?: Typed;
}

/** The page on which a customer enters a card. Works without JavaScript. */
export function formPage(page: FormPage): string {
  const { checkout, entry, errors } = page;
  const amount = formatAmount(entry.amount, entry.currency);
  const declined = errors ? undefined : page.cardTry;
  const title = errors ? WORDS.correct : declined ? WORDS.declinedTitle : WORDS.cardTitle;
  const main = html`${orderSummary(page)}
    <section class="card" aria-labelledby="card">
      <h2 id="card">${WORDS.cardTitle}</h2>
      ${errors ? corrections(errors) : []}
      ${declined ? refusal(declined) : []}
      <form method="post" autocomplete="on" novalidate data-card>
        <input type="hidden" name="formToken" value="${page.formToken}">
        ${fields({ typed: page.typed ?? typedBefore(declined), errors, declined })}
        ${checkout.saveCard ? html`<p class="quiet">${WORDS.savesCard(checkout.merchantName)}</p>` : []}
        <button type="submit">${WORDS.submit(amount)}</button>
      </form>
      ${cancelForm(page)}
      <p class="quiet">${WORDS.staysHere(checkout.merchantName)}</p>
      <p class="quiet">${WORDS.closesAt(timeOfDay(checkout.expiresAtMs))}</p>
      ${testCardTable()}
    </section>`;
  return document(`${title} · ${checkout.merchantName}`, main, 'script');
}

/** Of a declined card the date alone was kept. */
function typedBefore(cardTry: CardTry | undefined): Typed {
  if (!cardTry) return {};
  const month = String(cardTry.cardExpiryMonth).padStart(2, '0');
  return { expiry: `${month}/${cardTry.cardExpiryYear % 100}` };
}

interface Filled {
  readonly typed: Typed;
  readonly errors?: FieldErrors | undefined;
  readonly declined?: CardTry | undefined;
}

function fields(filled: Filled): Html {
  const [number, ...pair] = FIELDS.map((one) => field(one, filled));
  return html`${number}
        <div class="pair">${pair}</div>`;
}

interface Field {
  readonly name: FieldName;
  readonly label: string;
  readonly autocomplete: string;
  readonly maxlength: number;
  readonly hint?: string;
}

/** In their order on the page. */
const FIELDS: readonly Field[] = [
  { name: 'number', label: WORDS.cardNumber, autocomplete: 'cc-number', maxlength: 31 },
  { name: 'expiry', label: WORDS.expiry, autocomplete: 'cc-exp', maxlength: 9, hint: WORDS.expiryHint },
  { name: 'cvc', label: WORDS.code, autocomplete: 'cc-csc', maxlength: 4, hint: WORDS.codeHint },
];

function field({ name, label, autocomplete, maxlength, hint }: Field, filled: Filled): Html {
  const { typed, errors, declined } = filled;
  const error = errors?.[name];
  const focused = errors ? FIELDS.find((one) => errors[one.name])?.name : declined && 'number';
  const describedBy = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
          <label for="${name}">${label}</label>
          ${hint ? html`<span class="quiet" id="${name}-hint">${hint}</span>` : []}
          <input id="${name}" name="${name}" inputmode="numeric" autocomplete="${autocomplete}" maxlength="${maxlength}"
            value="${typed[name] ?? ''}" spellcheck="false" required
            ${describedBy ? html`aria-describedby="${describedBy}"` : []}
            ${error ? html`aria-invalid="true"` : []} ${focused === name ? html`autofocus` : []}>
          ${error ? html`<span class="error" id="${name}-error">${WORDS.errors[error]}</span>` : []}
        </div>`;
}

function corrections(errors: FieldErrors): Html {
  const items = FIELDS.flatMap(({ name }) => {
    const error = errors[name];
    return error ? [html`<li><a href="#${name}">${WORDS.errors[error]}</a></li>`] : [];
  });
  return html`<div class="alert" role="alert"><h3>${WORDS.correct}</h3><ul>${items}</ul></div>`;
}

function refusal({ errorCode, cardLast4 }: CardTry): Html {
  const why = WORDS.declined[errorCode as Decline] ?? WORDS.declined.do_not_honor;
  return html`<div class="alert" role="alert"><h3>${WORDS.declinedTitle}</h3>
          <p>${why(cardLast4)} ${WORDS.tryAnother}</p></div>`;
}

/** The cards that the sandbox takes, and what each does. */
function testCardTable(): Html {
  const { testCards } = WORDS;
  const rows = TEST_CARDS.map(
    (card) => html`<tr><td class="number">${groupInFours(card.number)}</td><td>${effectOf(card)}</td></tr>`,
  );
  return html`<details>
        <summary>${testCards.title}</summary>
        <p class="quiet">${testCards.hint}</p>
        <div class="scroll" tabindex="0" role="region" aria-label="${testCards.title}"><table>
          <thead><tr><th scope="col">${testCards.number}</th><th scope="col">${testCards.effect}</th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>
      </details>`;
}

/** What a card does, as the page and docs/sandbox.md list it. */
export function effectOf({ behaviour, brand, challenged }: TestCard): string {
  if (challenged) return WORDS.testCards.challenge;
  const effect = BEHAVIOURS[behaviour].about;
  if (behaviour !== 'ok') return effect;
  const name = brand.replace(/^./, (first) => first.toUpperCase());
  return brand === 'amex' ? `${effect} (${name}, ${WORDS.testCards.fourDigitCode})` : `${effect} (${name})`;
}
