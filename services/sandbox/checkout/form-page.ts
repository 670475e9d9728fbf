import type { CardTry } from '../ledger/checkout.ts';
import { type CheckoutView, cancelForm, document, orderSummary } from './document.ts';
import type { FieldErrors, FieldName, Typed } from './form.ts';
import { type Html, html } from './html.ts';
import { formatAmount, timeOfDay } from './language.ts';
import { groupInFours, TEST_CARDS, type TestCard } from './test-card.ts';
import type { Decline, Words } from './words/en.ts';

/** What the form shows. */
export interface FormPage extends CheckoutView {
  /** The card before, when it was declined. */
  readonly cardTry?: CardTry | undefined;
  readonly errors?: FieldErrors;
  /** Typed before, shown again. */
  readonly typed?: Typed;
}

/** The page on which a customer enters a card. Works without JavaScript. */
export function formPage(page: FormPage): string {
  const { language, checkout, entry, errors } = page;
  const { words } = language;
  const amount = formatAmount(entry.amount, entry.currency, language.locale);
  const declined = errors ? undefined : page.cardTry;
  const title = errors ? words.correct : declined ? words.declinedTitle : words.cardTitle;
  const main = html`${orderSummary(page)}
    <section class="card" aria-labelledby="card">
      <h2 id="card">${words.cardTitle}</h2>
      ${errors ? corrections(words, errors) : []}
      ${declined ? refusal(words, declined) : []}
      <form method="post" autocomplete="on" novalidate data-card>
        <input type="hidden" name="formToken" value="${page.formToken}">
        ${fields(words, { typed: page.typed ?? typedBefore(declined), errors, declined })}
        ${checkout.saveCard ? html`<p class="quiet">${words.savesCard(checkout.merchantName)}</p>` : []}
        <button type="submit">${words.submit(amount)}</button>
      </form>
      ${cancelForm(page)}
      <p class="quiet">${words.staysHere(checkout.merchantName)}</p>
      <p class="quiet">${words.closesAt(timeOfDay(checkout.expiresAtMs, language))}</p>
      ${testCardTable(words)}
    </section>`;
  return document(language, `${title} · ${checkout.merchantName}`, main, 'script');
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

function fields(words: Words, filled: Filled): Html {
  return html`${field({ name: 'number', label: words.cardNumber, autocomplete: 'cc-number', maxlength: 31 }, words, filled)}
        <div class="pair">
          ${field(
            { name: 'expiry', label: words.expiry, autocomplete: 'cc-exp', maxlength: 9, hint: words.expiryHint },
            words,
            filled,
          )}
          ${field(
            { name: 'cvc', label: words.code, autocomplete: 'cc-csc', maxlength: 4, hint: words.codeHint },
            words,
            filled,
          )}
        </div>`;
}

interface Field {
  readonly name: FieldName;
  readonly label: string;
  readonly autocomplete: string;
  readonly maxlength: number;
  readonly hint?: string;
}

const FIELDS: readonly FieldName[] = ['number', 'expiry', 'cvc'];

function field({ name, label, autocomplete, maxlength, hint }: Field, words: Words, filled: Filled): Html {
  const { typed, errors, declined } = filled;
  const error = errors?.[name];
  const focused = errors ? FIELDS.find((one) => errors[one]) : declined && 'number';
  const describedBy = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
          <label for="${name}">${label}</label>
          ${hint ? html`<span class="quiet" id="${name}-hint">${hint}</span>` : []}
          <input id="${name}" name="${name}" inputmode="numeric" autocomplete="${autocomplete}" maxlength="${maxlength}"
            value="${typed[name] ?? ''}" spellcheck="false" required ${describedBy ? html`aria-describedby="${describedBy}"` : []}
            ${error ? html`aria-invalid="true"` : []} ${focused === name ? html`autofocus` : []}>
          ${error ? html`<span class="error" id="${name}-error">${words.errors[error]}</span>` : []}
        </div>`;
}

function corrections(words: Words, errors: FieldErrors): Html {
  const items = FIELDS.flatMap((name) => {
    const error = errors[name];
    return error ? [html`<li><a href="#${name}">${words.errors[error]}</a></li>`] : [];
  });
  return html`<div class="alert" role="alert"><h3>${words.correct}</h3><ul>${items}</ul></div>`;
}

function refusal(words: Words, { errorCode, cardLast4 }: CardTry): Html {
  const why = words.declined[errorCode as Decline] ?? words.declined.do_not_honor;
  return html`<div class="alert" role="alert"><h3>${words.declinedTitle}</h3><p>${why(cardLast4)} ${words.tryAnother}</p></div>`;
}

/** The cards that the sandbox takes, and what each does. */
function testCardTable({ testCards }: Words): Html {
  const rows = TEST_CARDS.map(
    (card) => html`<tr><td class="number">${groupInFours(card.number)}</td><td>${effectOf(card, testCards)}</td></tr>`,
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

function effectOf({ behaviour, brand, challenged }: TestCard, words: Words['testCards']): string {
  if (challenged) return words.challenge;
  const effect = words.effects[behaviour];
  if (behaviour !== 'ok') return effect;
  const name = brand.replace(/^./, (first) => first.toUpperCase());
  return brand === 'amex' ? `${effect} (${name}, ${words.fourDigitCode})` : `${effect} (${name})`;
}
