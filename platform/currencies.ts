/** Currencies and their minor units (ISO 4217). */
import { CURRENT_DIGITS, FORMER_DIGITS } from './currency-table.ts';

/** All currencies that money can be taken in. */
export const CURRENCIES: readonly string[] = Object.keys(CURRENT_DIGITS);

/** Whether money can be taken in a currency. */
export function isCurrency(code: string): boolean {
  return Object.hasOwn(CURRENT_DIGITS, code);
}

/** Whether an amount may be in a currency: also in one that was withdrawn since. */
export function wasCurrency(code: string): boolean {
  return digitsOf(code) !== undefined;
}

/** How many digits the minor unit of a currency has, also of one that was withdrawn; undefined = there is none such. */
export function digitsOf(code: string): number | undefined {
  for (const table of [CURRENT_DIGITS, FORMER_DIGITS]) if (Object.hasOwn(table, code)) return table[code];
  return undefined;
}
