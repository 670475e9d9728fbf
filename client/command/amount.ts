import { CURRENT_DIGITS, FORMER_DIGITS } from './currency-table.ts';
import { UsageError } from './usage-error.ts';

/**
 * Reads an amount as people write it, 10.50, into minor units of its currency (ISO 4217). Throws UsageError for digits
 * that it does not have.
 */
export function minorUnits(text: string, currency: string): number {
  const digits = fractionDigits(currency);
  if (digits === undefined)
    throw new UsageError(`${currency} is no currency that this version knows: write an ISO 4217 code, such as EUR`);
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined) throw new UsageError(`--amount ${text} is no amount: write it as 10 or 10.50`);
  if (fraction.length > digits)
    throw new UsageError(`--amount ${text} has more digits than ${currency} has: ${digits}`);
  return Number(whole + fraction.padEnd(digits, '0'));
}

/** Writes an amount as people read it; in minor units when this version does not know the currency. */
export function written(minor: number, currency: string): string {
  const digits = fractionDigits(currency);
  if (digits === undefined) return `${minor} ${currency} (minor units)`;
  const text = String(minor).padStart(digits + 1, '0');
  const fraction = digits === 0 ? '' : `.${text.slice(-digits)}`;
  return `${text.slice(0, text.length - digits)}${fraction} ${currency}`;
}

/** A record with its amounts as people read them, also those of its parts. `currency` is that of the whole. */
export function readable(value: unknown, currency?: string): unknown {
  if (Array.isArray(value)) return value.map((each) => readable(each, currency));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const own = typeof fields.currency === 'string' ? fields.currency : currency;
  const entries = Object.entries(fields).map(([name, field]) => {
    const isMoney = typeof field === 'number' && own !== undefined && /^amount/.test(name);
    return [name, isMoney ? written(field, own) : readable(field, own)];
  });
  return Object.fromEntries(entries);
}

function fractionDigits(currency: string): number | undefined {
  for (const table of [CURRENT_DIGITS, FORMER_DIGITS]) if (Object.hasOwn(table, currency)) return table[currency];
  return undefined;
}
