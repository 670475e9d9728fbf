/** Amounts as Stripe counts them (docs.stripe.com/currencies). */
import { LARGEST_AMOUNT } from '../../platform/adapter/entry.ts';
import { digitsOf } from '../../platform/currencies.ts';

/** How Stripe writes a currency's amounts: with so many decimals, in multiples of `step`. */
interface StripeUnits {
  readonly exponent: number;
  readonly step: bigint;
}

/** "The charge and the amount are the same." Of these MGA has two decimals in ISO 4217. */
const ZERO_DECIMAL = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));

/**
 * Smallest charges in Stripe's units, of currencies for which Stripe names one. What is settled in another currency must
 * reach the smallest charge of that one, which Stripe alone can tell.
 */
const SMALLEST: Readonly<Record<string, number>> = {
  ...{ AED: 200, AUD: 50, BGN: 100, BRL: 50, CAD: 50, CHF: 50, CZK: 1_500, DKK: 250, EUR: 50, GBP: 30, HKD: 400 },
  ...{ HUF: 17_500, INR: 50, JPY: 50, MXN: 1_000, MYR: 200, NOK: 300, NZD: 50, PLN: 200, RON: 200, SEK: 300 },
  ...{ SGD: 50, THB: 1_000, USD: 50 },
};

/** "The amount value supports up to eight digits." */
const LARGEST = 99_999_999n;

/** Stripe takes more digits of some currencies with small units: its own refusal counts for these. */
const LONGER = new Set('COP HUF IDR INR JPY KRW LBP VND'.split(' '));

/** Written with three decimals, of which the last must be 0. */
const THREE_DECIMAL = new Set('BHD JOD KWD OMR TND'.split(' '));

/**
 * Returns how Stripe counts a currency, or undefined when that is not known for certain: such a currency is rejected.
 * That holds for UGX, which Stripe's page lists as zero-decimal and, further down, as two-decimal; and for currencies
 * that do not have two decimals in ISO 4217 and that the page does not name.
 */
export function stripeUnits(currency: string): StripeUnits | undefined {
  if (ZERO_DECIMAL.has(currency)) return { exponent: 0, step: 1n };
  if (THREE_DECIMAL.has(currency)) return { exponent: 3, step: 10n };
  // Without decimals since 2021, still written with two: 5 ISK are 500.
  if (currency === 'ISK') return { exponent: 2, step: 100n };
  return digitsOf(currency) === 2 ? { exponent: 2, step: 1n } : undefined;
}

/** An amount of ISO 4217 minor units as Stripe takes it, or undefined when Stripe cannot take exactly that. */
export function toStripe(amount: bigint, currency: string): number | undefined {
  const units = stripeUnits(currency);
  const digits = digitsOf(currency);
  if (!units || digits === undefined) return undefined;
  const written = scaled(amount, units.exponent - digits);
  if (written === undefined || written % units.step !== 0n) return undefined;
  return written <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(written) : undefined;
}

/** An amount of Stripe's in ISO 4217 minor units. Throws when it is not a whole number of them. */
export function fromStripe(amount: number, currency: string): bigint {
  const code = currency.toUpperCase();
  const units = stripeUnits(code);
  const digits = digitsOf(code);
  const value = units && digits !== undefined ? scaled(BigInt(amount), digits - units.exponent) : undefined;
  if (value === undefined) throw new RangeError(`an amount in ${code} has no exact value in minor units`);
  return value;
}

/** What can be charged of a currency, in ISO 4217 minor units; undefined when Stripe does not take it. */
export function chargeBounds(currency: string) {
  const units = stripeUnits(currency);
  const step = units && [1n, 10n, 100n].find((amount) => toStripe(amount, currency) !== undefined);
  if (step === undefined) return undefined;
  const most = LONGER.has(currency) ? LARGEST_AMOUNT : minorUnits(LARGEST, currency);
  const smallest = minorUnits(BigInt(SMALLEST[currency] ?? 0), currency);
  return {
    currency,
    smallestAmount: smallest > step ? smallest : step,
    largestAmount: most - (most % step),
    multipleOf: step,
  };
}

/** An amount of Stripe's in ISO 4217 minor units, without what is less than one. */
function minorUnits(amount: bigint, currency: string): bigint {
  const exponent = (digitsOf(currency) ?? 0) - (stripeUnits(currency)?.exponent ?? 0);
  return exponent >= 0 ? amount * 10n ** BigInt(exponent) : amount / 10n ** BigInt(-exponent);
}

function scaled(amount: bigint, exponent: number): bigint | undefined {
  if (exponent >= 0) return amount * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return amount % divisor === 0n ? amount / divisor : undefined;
}
