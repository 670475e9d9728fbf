import { invalid } from './fake-error.ts';

/** From docs.stripe.com/currencies, independent of the adapter's own table. */
const WITHOUT_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ');
const WITH_THREE = ['bhd', 'jod', 'kwd', 'omr', 'tnd'];
const OTHERS = 'usd eur gbp chf isk huf twd cad aud sek pln'.split(' ');

/** Throws Stripe's error for an amount that it does not accept. */
export function checkAmount(amount: number | undefined, currency: string): asserts amount is number {
  if (![...WITHOUT_DECIMALS, ...WITH_THREE, ...OTHERS].includes(currency)) {
    throw invalid(`Invalid currency: ${currency}.`, 'currency');
  }
  if (amount === undefined || !Number.isSafeInteger(amount))
    throw invalid('Invalid integer', 'amount', 'parameter_invalid_integer');
  if (WITH_THREE.includes(currency) && amount % 10 !== 0)
    throw invalid('The last digit must be 0', 'amount', 'invalid_amount');
  if (currency === 'isk' && amount % 100 !== 0) throw invalid('No fractions of ISK', 'amount', 'invalid_amount');
  if (amount < (WITHOUT_DECIMALS.includes(currency) ? 1 : 50))
    throw invalid('Amount too small', 'amount', 'amount_too_small');
  if (amount > 99_999_999) throw invalid('Amount must be no more than 999,999.99', 'amount', 'amount_too_large');
}
