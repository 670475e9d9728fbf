import { isLuhnValid } from '../../../platform/card-number.ts';
import type { SubmittedCard } from './submit.ts';
import { groupInFours, type TestCard, testCardOf } from './test-card.ts';
import type { FieldError } from './words.ts';

/** The fields that a customer fills in. */
export type FieldName = 'number' | 'expiry' | 'cvc';

/** What is wrong with each field that is. */
export type FieldErrors = Partial<Record<FieldName, FieldError>>;

/** A card as it may be kept, and how it behaves; or what to correct. */
type CardForm = SubmittedCard | { readonly errors: FieldErrors; readonly typed: Typed };

/** What was typed, to be shown again. */
export type Typed = Partial<Record<FieldName, string>>;

/**
 * Judges what the customer typed. Of a card that is accepted, neither number nor security code goes further than this
 * function; what must be corrected goes back into the form that it came from, and nowhere else.
 */
export function readCard(form: URLSearchParams, nowMs: number): CardForm {
  const number = (form.get('number') ?? '').replace(/[\s-]/g, '');
  const testCard = testCardOf(number);
  const expiry = readExpiry(form.get('expiry') ?? '', nowMs);
  const numberError = judgeNumber(number, testCard);
  const cvcError = judgeCvc((form.get('cvc') ?? '').trim(), testCard);
  if (!testCard || typeof expiry === 'string' || numberError || cvcError) {
    const errors: FieldErrors = {
      ...(numberError && { number: numberError }),
      ...(typeof expiry === 'string' && { expiry }),
      ...(cvcError && { cvc: cvcError }),
    };
    return { errors, typed: typedOf(form, number, numberError) };
  }
  const card = {
    cardBrand: testCard.brand,
    cardLast4: testCard.number.slice(-4),
    cardExpiryMonth: expiry.month,
    cardExpiryYear: expiry.year,
  };
  return { card, behaviour: testCard.behaviour, challenged: testCard.challenged === true };
}

/** A real card must be replaced, not corrected: its number and code are not shown again. */
function typedOf(form: URLSearchParams, number: string, numberError: FieldError | undefined): Typed {
  const expiry = form.get('expiry') ?? '';
  if (numberError === 'numberReal') return { expiry };
  const grouped = /^[0-9]+$/.test(number) ? groupInFours(number) : (form.get('number') ?? '');
  return { number: grouped, expiry, cvc: form.get('cvc') ?? '' };
}

function judgeNumber(number: string, testCard: TestCard | undefined): FieldError | undefined {
  if (number === '') return 'numberMissing';
  if (!/^[0-9]{13,19}$/.test(number)) return 'numberLength';
  if (!isLuhnValid(number)) return 'numberInvalid';
  if (!testCard) return 'numberReal';
  return undefined;
}

function judgeCvc(cvc: string, testCard: TestCard | undefined): FieldError | undefined {
  if (cvc === '') return 'codeMissing';
  if (testCard?.brand === 'amex') return /^[0-9]{4}$/.test(cvc) ? undefined : 'codeOfFour';
  if (testCard) return /^[0-9]{3}$/.test(cvc) ? undefined : 'codeOfThree';
  return /^[0-9]{3,4}$/.test(cvc) ? undefined : 'codeLength';
}

/** Month and year, or what is wrong with them. A card is good to the end of its month, UTC. */
function readExpiry(text: string, nowMs: number): { month: number; year: number } | FieldError {
  if (text.trim() === '') return 'expiryMissing';
  const match = /^\s*(0?[1-9]|1[0-2])\s*[/. -]?\s*(?:20)?([0-9]{2})\s*$/.exec(text);
  if (!match) return 'expiryFormat';
  const month = Number(match[1]);
  const year = 2000 + Number(match[2]);
  const now = new Date(nowMs);
  const monthsLeft = (year - now.getUTCFullYear()) * 12 + month - 1 - now.getUTCMonth();
  if (monthsLeft < 0) return 'expiryPast';
  if (monthsLeft > 20 * 12) return 'expiryFar';
  return { month, year };
}
