import { isLuhnValid } from '../../../platform/card-number.ts';
import type { Submission } from './submit.ts';
import { groupInFours, type TestCard, testCardOf } from './test-card.ts';

/** The fields that a customer fills in. */
export type FieldName = 'number' | 'expiry' | 'cvc';

/** What was typed, to be shown again; or what is wrong with each field that is. */
export type Fields = Partial<Record<FieldName, string>>;

/** What must be corrected. */
export interface Mistakes {
  readonly errors: Fields;
  readonly typed: Fields;
}

/**
 * Judges what the customer typed. Of a card that is accepted, neither number nor security code goes further than this
 * function; what must be corrected goes back into the form that it came from, and nowhere else.
 */
export function readCard(form: URLSearchParams, nowMs: number): Extract<Submission, { card: object }> | Mistakes {
  const typed = { number: form.get('number') ?? '', expiry: form.get('expiry') ?? '', cvc: form.get('cvc') ?? '' };
  const number = typed.number.replace(/[\s-]/g, '');
  const testCard = testCardOf(number);
  const expiry = readExpiry(typed.expiry, nowMs);
  const errors: Fields = {};
  const numberError = judgeNumber(number, testCard);
  if (numberError) errors.number = numberError;
  if (typeof expiry === 'string') errors.expiry = expiry;
  const cvcError = judgeCvc(typed.cvc.trim(), testCard);
  if (cvcError) errors.cvc = cvcError;
  if (!testCard || typeof expiry === 'string' || cvcError) {
    if (numberError === REAL_CARD) return { errors, typed: { expiry: typed.expiry } };
    const isNumber = /^[0-9]+$/.test(number);
    return { errors, typed: { ...typed, number: isNumber ? groupInFours(number) : typed.number } };
  }
  const card = {
    behaviour: testCard.behaviour,
    cardBrand: testCard.brand,
    cardLast4: testCard.number.slice(-4),
    cardExpiryMonth: expiry.month,
    cardExpiryYear: expiry.year,
  };
  return { card, challenged: testCard.challenged === true };
}

/** A real card must be replaced, not corrected: its number and code are not shown again. */
const REAL_CARD = 'This is a sandbox: use one of the test cards listed below, never a real one.';

function judgeNumber(number: string, testCard: TestCard | undefined): string | undefined {
  if (testCard) return undefined;
  if (number === '') return 'Enter the card number.';
  if (!/^[0-9]{13,19}$/.test(number)) return 'A card number has 13 to 19 digits.';
  return isLuhnValid(number) ? REAL_CARD : 'This card number is not valid. Check its digits.';
}

function judgeCvc(cvc: string, testCard: TestCard | undefined): string | undefined {
  if (cvc === '') return 'Enter the security code.';
  const isOfFour = /^[0-9]{4}$/.test(cvc);
  const isOfThree = /^[0-9]{3}$/.test(cvc);
  if (testCard?.brand === 'amex') return isOfFour ? undefined : 'This card has a code of four digits.';
  if (testCard) return isOfThree ? undefined : 'This card has a code of three digits.';
  return isOfFour || isOfThree ? undefined : 'The security code has three or four digits.';
}

/** Month and year, or what is wrong with them. A card is good to the end of its month, UTC. */
function readExpiry(text: string, nowMs: number): { month: number; year: number } | string {
  if (text.trim() === '') return 'Enter the expiry date.';
  const match = /^\s*(0?[1-9]|1[0-2])\s*[/. -]?\s*(?:20)?([0-9]{2})\s*$/.exec(text);
  if (!match) return 'Write the expiry date as month and year, like 08/31.';
  const month = Number(match[1]);
  const year = 2000 + Number(match[2]);
  const now = new Date(nowMs);
  const monthsLeft = (year - now.getUTCFullYear()) * 12 + month - 1 - now.getUTCMonth();
  if (monthsLeft < 0) return 'This card has expired.';
  if (monthsLeft > 20 * 12) return 'This date is too far in the future.';
  return { month, year };
}
