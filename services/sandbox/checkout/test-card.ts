import type { BehaviourName } from '../behaviour.ts';

/** A card number that the sandbox takes, and what becomes of it. */
export interface TestCard {
  /** Digits only. */
  readonly number: string;
  readonly brand: string;
  readonly behaviour: BehaviourName;
  /** For the table on the page. */
  readonly what: string;
}

/** The industry's usual test numbers where there is one, else numbers of the same range. None is a real card. */
export const TEST_CARDS: readonly TestCard[] = [
  { number: '4242424242424242', brand: 'visa', behaviour: 'ok', what: 'Approved (Visa)' },
  { number: '5555555555554444', brand: 'mastercard', behaviour: 'ok', what: 'Approved (Mastercard)' },
  { number: '378282246310005', brand: 'amex', behaviour: 'ok', what: 'Approved (Amex: code of 4 digits)' },
  { number: '6011111111111117', brand: 'discover', behaviour: 'ok', what: 'Approved (Discover)' },
  { number: '4000000000000002', brand: 'visa', behaviour: 'declined', what: 'Declined' },
  { number: '4000000000009995', brand: 'visa', behaviour: 'insufficient_funds', what: 'Declined: insufficient funds' },
  { number: '4000000000005001', brand: 'visa', behaviour: 'invalid', what: 'Not known to the issuer' },
  { number: '4000000000000119', brand: 'visa', behaviour: 'processor_error', what: 'Processor error' },
  { number: '4000000000000341', brand: 'visa', behaviour: 'capture_declined', what: 'Approved; captures declined' },
  { number: '4000000000005019', brand: 'visa', behaviour: 'capture_error', what: 'Approved; captures fail' },
  { number: '4000000000005027', brand: 'visa', behaviour: 'timeout_applied', what: 'Approved; the report is lost' },
  { number: '4000000000005035', brand: 'visa', behaviour: 'timeout_lost', what: 'The bank never answers' },
  {
    number: '4000000000005043',
    brand: 'visa',
    behaviour: 'capture_timeout_applied',
    what: 'Approved; answers to captures are lost',
  },
  {
    number: '4000000000005050',
    brand: 'visa',
    behaviour: 'capture_timeout_lost',
    what: 'Approved; captures are lost',
  },
  { number: '4000000000000259', brand: 'visa', behaviour: 'reversed', what: 'Approved; captures are reversed' },
  { number: '4000000000005068', brand: 'visa', behaviour: 'expires_2s', what: 'Approved; ends after 2 seconds' },
  { number: '4000000000005076', brand: 'visa', behaviour: 'slow', what: 'Approved after 2 seconds' },
];

/** The test card of that number, or undefined. */
export function testCardOf(number: string): TestCard | undefined {
  return TEST_CARDS.find((card) => card.number === number);
}

/** The check digit of ISO/IEC 7812-1 (Luhn), over a string of digits. */
export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += place % 2 === 1 ? doubled : digit;
  }
  return sum % 10 === 0;
}
