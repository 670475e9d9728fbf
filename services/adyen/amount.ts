/** Amounts as Adyen counts them (docs.adyen.com/development-resources/currency-codes). */
import { digitsOf } from '../../platform/currencies.ts';

/** Decimals of the currencies that Adyen counts otherwise than ISO 4217. */
const OWN_DECIMALS: Readonly<Record<string, number>> = { CLP: 2, CVE: 0, IDR: 0, ISK: 2 };

/** How many decimals more Adyen writes than ISO 4217 does; undefined for what is no currency. */
function moreDecimals(currency: string): number | undefined {
  const digits = digitsOf(currency);
  return digits === undefined ? undefined : (OWN_DECIMALS[currency] ?? digits) - digits;
}

/** The smallest amount of a currency that Adyen can write, in ISO 4217 minor units; undefined for no currency. */
export function adyenStep(currency: string): bigint | undefined {
  const more = moreDecimals(currency);
  return more === undefined ? undefined : 10n ** BigInt(Math.max(0, -more));
}

/** An amount of ISO 4217 minor units as Adyen takes it, or undefined when Adyen cannot take exactly that. */
export function toAdyen(amount: bigint, currency: string): number | undefined {
  return asNumber(scaled(amount, moreDecimals(currency)));
}

/** An amount of Adyen's in ISO 4217 minor units, or undefined when it is not a whole number of them. */
export function fromAdyen({ value, currency }: { readonly value: number; readonly currency: string }) {
  const more = moreDecimals(currency);
  return scaled(BigInt(value), more === undefined ? undefined : -more);
}

function scaled(amount: bigint, exponent: number | undefined): bigint | undefined {
  if (exponent === undefined) return undefined;
  if (exponent >= 0) return amount * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return amount % divisor === 0n ? amount / divisor : undefined;
}

function asNumber(amount: bigint | undefined): number | undefined {
  return amount !== undefined && amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : undefined;
}
