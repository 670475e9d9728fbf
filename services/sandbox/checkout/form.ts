import type { BehaviourName } from '../behaviour.ts';
import type { KeptCard } from '../ledger/entry.ts';
import { isLuhnValid, type TestCard, testCardOf } from './test-card.ts';

/** The fields that a customer fills in. */
export type FieldName = 'number' | 'expiry' | 'cvc';

/** What is wrong with each field that is. */
export type FieldErrors = Partial<Record<FieldName, string>>;

/** A card as it may be kept, and how it behaves; or what to correct. */
export type CardForm =
  | { readonly card: KeptCard; readonly behaviour: BehaviourName }
  | { readonly errors: FieldErrors };

/** Judges what the customer typed. The number and the security code go no further than this function. */
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
    return { errors };
  }
  const card = {
    cardBrand: testCard.brand,
    cardLast4: testCard.number.slice(-4),
    cardExpiryMonth: expiry.month,
    cardExpiryYear: expiry.year,
  };
  return { card, behaviour: testCard.behaviour };
}

function judgeNumber(number: string, testCard: TestCard | undefined): string | undefined {
  if (number === '') return 'Enter the card number.';
  if (!/^[0-9]{13,19}$/.test(number)) return 'A card number has 13 to 19 digits.';
  if (!isLuhnValid(number)) return 'This card number is not valid. Check its digits.';
  if (!testCard) return 'This is a sandbox: use one of the test cards listed below, never a real one.';
  return undefined;
}

function judgeCvc(cvc: string, testCard: TestCard | undefined): string | undefined {
  if (cvc === '') return 'Enter the security code.';
  if (testCard?.brand === 'amex') return /^[0-9]{4}$/.test(cvc) ? undefined : 'This card has a code of four digits.';
  if (testCard) return /^[0-9]{3}$/.test(cvc) ? undefined : 'This card has a code of three digits.';
  return /^[0-9]{3,4}$/.test(cvc) ? undefined : 'The security code has three or four digits.';
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
