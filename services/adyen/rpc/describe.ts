import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { LARGEST_AMOUNT } from '../../../platform/adapter/entry.ts';
import { CURRENCIES } from '../../../platform/currencies.ts';
import type { Context } from '../adapter-context.ts';
import { adyenStep } from '../amount.ts';
import { capabilitiesOf } from '../settlement/settle.ts';

/** What Adyen can do, by the adapter's settings. */
export function described({ adjustments, resultMs, pages }: Pick<Context, 'adjustments' | 'resultMs' | 'pages'>) {
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
    // Adyen asks for the customer's browser, which a hold does not carry: a page collects it.
    stepUp: pages !== undefined,
    renewals: true,
    acceptedLongest: {
      authorization: longest,
      capture: longest,
      void: longest,
      increment: longest,
      decrease: longest,
      extension: longest,
      refund: longest,
    },
    currencies: CURRENCIES.flatMap((currency) => boundsOf(currency) ?? []),
  };
}

function boundsOf(currency: string) {
  const multipleOf = adyenStep(currency);
  if (multipleOf === undefined) return undefined;
  const largestAmount = LARGEST_AMOUNT - (LARGEST_AMOUNT % multipleOf);
  return { currency, smallestAmount: multipleOf, largestAmount, multipleOf };
}
