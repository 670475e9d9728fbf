import { UsageError } from './run.ts';

/**
 * Reads an amount as people write it, 10.50, into minor units of its currency (ISO 4217). Throws UsageError for digits
 * that it does not have.
 */
export function minorUnits(text: string, currency: string): number {
  const digits = fractionDigits(currency);
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new UsageError(`--amount ${text} is no amount: write it as 10 or 10.50`);
  if (fraction.length > digits)
    throw new UsageError(`--amount ${text} has more digits than ${currency} has: ${digits}`);
  return Number(whole + fraction.padEnd(digits, '0'));
}

/** Writes an amount as people read it. */
export function written(minor: number, currency: string): string {
  const digits = fractionDigits(currency);
  const text = String(minor).padStart(digits + 1, '0');
  const fraction = digits === 0 ? '' : `.${text.slice(-digits)}`;
  return `${text.slice(0, text.length - digits)}${fraction} ${currency}`;
}

function fractionDigits(currency: string): number {
  if (!/^[A-Z]{3}$/.test(currency)) throw new UsageError(`--currency ${currency} is no ISO 4217 code: write it as EUR`);
  return OTHER_DIGITS.find(([codes]) => codes.includes(currency))?.[1] ?? 2;
}

/** The minor units of ISO 4217 that are not 2. (Intl follows how people write prices: it gives HUF none.) */
const OTHER_DIGITS: readonly (readonly [codes: readonly string[], digits: number])[] = [
  ['BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' '), 0],
  ['BHD IQD JOD KWD LYD OMR TND'.split(' '), 3],
  ['CLF UYW'.split(' '), 4],
];
