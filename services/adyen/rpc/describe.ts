import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { LARGEST_AMOUNT } from '../../../platform/adapter/entry.ts';
import { CURRENCIES } from '../../../platform/currencies.ts';
import type { Context } from '../adapter-context.ts';
import { capabilitiesOf } from '../settlement/settle.ts';

/** What Adyen can do, by the adapter's settings. */
export function described({ adjustments, resultMs }: Pick<Context, 'adjustments' | 'resultMs'>) {
  const longest = durationFromMs(resultMs);
  return {
    name: 'adyen',
    authorizations: capabilitiesOf(adjustments),
    tokens: true,
    checkouts: false,
    savedCards: false,
    credits: false,
    accepts: true,
    fences: true,
    acceptedLongest: {
      authorization: longest,
      capture: longest,
      void: longest,
      increment: longest,
      extension: longest,
      refund: longest,
    },
    currencies: CURRENCIES.filter(isTaken).map((currency) => {
      return { currency, smallestAmount: 1n, largestAmount: LARGEST_AMOUNT };
    }),
  };
}

/** Adyen counts these otherwise than ISO 4217 (docs.adyen.com/development-resources/currency-codes). */
const COUNTED_OTHERWISE = new Set(['CLP', 'CVE', 'IDR', 'ISK']);

/** Whether amounts of a currency can be sent as they are. */
export function isTaken(currency: string): boolean {
  return !COUNTED_OTHERWISE.has(currency) && /^[A-Z]{3}$/.test(currency);
}
