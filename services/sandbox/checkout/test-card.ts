import { BEHAVIOURS, type BehaviourName } from '../behaviour.ts';

/** A card number that the sandbox takes, and what becomes of it. */
export interface TestCard {
  /** Digits only. */
  readonly number: string;
  readonly brand: string;
  readonly behaviour: BehaviourName;
  /** Its bank asks the customer to confirm first, as 3-D Secure does. */
  readonly challenged?: true;
}

/** The industry's usual test numbers where there is one, else numbers of the same range. None is a real card. */
export const TEST_CARDS: readonly TestCard[] = [
  { number: '4242424242424242', brand: 'visa', behaviour: 'ok' },
  { number: '5555555555554444', brand: 'mastercard', behaviour: 'ok' },
  { number: '378282246310005', brand: 'amex', behaviour: 'ok' },
  { number: '6011111111111117', brand: 'discover', behaviour: 'ok' },
  { number: '4000056655665556', brand: 'visa', behaviour: 'debit' },
  { number: '5105105105105100', brand: 'mastercard', behaviour: 'prepaid' },
  { number: '4000000000003220', brand: 'visa', behaviour: 'ok', challenged: true },
  { number: '4000000000000002', brand: 'visa', behaviour: 'declined' },
  { number: '4000000000009995', brand: 'visa', behaviour: 'insufficient_funds' },
  { number: '4000000000005001', brand: 'visa', behaviour: 'invalid' },
  { number: '4000000000000119', brand: 'visa', behaviour: 'processor_error' },
  { number: '4000000000000341', brand: 'visa', behaviour: 'capture_declined' },
  { number: '4000000000005019', brand: 'visa', behaviour: 'capture_error' },
  { number: '4000000000005027', brand: 'visa', behaviour: 'timeout_applied' },
  { number: '4000000000005035', brand: 'visa', behaviour: 'timeout_lost' },
  { number: '4000000000005043', brand: 'visa', behaviour: 'capture_timeout_applied' },
  { number: '4000000000005050', brand: 'visa', behaviour: 'capture_timeout_lost' },
  { number: '4000000000000259', brand: 'visa', behaviour: 'reversed' },
  { number: '4000000000005084', brand: 'visa', behaviour: 'reversed_in_part' },
  { number: '4000000000005092', brand: 'visa', behaviour: 'capture_accepted' },
  { number: '4000000000005100', brand: 'visa', behaviour: 'single_capture' },
  { number: '4000000000005118', brand: 'visa', behaviour: 'ended_early' },
  { number: '4000000000005126', brand: 'visa', behaviour: 'reversed_reinstated' },
  { number: '4000000000005134', brand: 'visa', behaviour: 'reversed_again' },
  { number: '4000000000005142', brand: 'visa', behaviour: 'refund_returned' },
  { number: '4000000000005159', brand: 'visa', behaviour: 'guarantee_short' },
  { number: '4000000000005167', brand: 'visa', behaviour: 'ended_after_capture' },
  { number: '4000000000005068', brand: 'visa', behaviour: 'expires_2s' },
  { number: '4000000000005076', brand: 'visa', behaviour: 'slow' },
];

/** The test card of that number, or undefined. */
export function testCardOf(number: string): TestCard | undefined {
  return TEST_CARDS.find((card) => card.number === number);
}

/** A number as cards print it, so that it can be compared with one. */
export function groupInFours(digits: string): string {
  return digits.replace(/(.{4})(?=.)/g, '$1 ');
}

/** What a card does, as the page and docs/sandbox.md list it. */
export function aboutCard({ behaviour, brand, challenged }: TestCard): string {
  if (challenged) return 'Approved when confirmed with the bank';
  const { about } = BEHAVIOURS[behaviour];
  if (behaviour !== 'ok') return about;
  const name = brand.replace(/^./, (first) => first.toUpperCase());
  return brand === 'amex' ? `${about} (${name}, 4-digit code)` : `${about} (${name})`;
}
