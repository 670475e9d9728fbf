/** Amounts as Stripe counts them (docs.stripe.com/currencies). */
import { digitsOf } from '../../platform/currencies.ts';

/** How Stripe writes a currency's amounts: with so many decimals, in multiples of `step`. */
interface StripeUnits {
  readonly exponent: number;
  readonly step: bigint;
}

/** "The charge and the amount are the same." Of these MGA has two decimals in ISO 4217. */
const ZERO_DECIMAL = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));

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

function scaled(amount: bigint, exponent: number): bigint | undefined {
  if (exponent >= 0) return amount * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return amount % divisor === 0n ? amount / divisor : undefined;
}
