import type { MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { LARGEST_AMOUNT } from '../../../platform/adapter/entry.ts';
import { CURRENCIES } from '../../../platform/currencies.ts';
import type { DescribeRequest, DescribeResponseSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { stripeUnits, toStripe } from '../amount.ts';
import { CHECKOUT_LONGEST_MS, CHECKOUT_SHORTEST_MS } from '../settlement/checkout.ts';
import { areFeaturesRefused } from '../settlement/features.ts';
import { REFUND_EXPECTED_MS } from '../settlement/refund.ts';

type Description = MessageInitShape<typeof DescribeResponseSchema>;

/** What Stripe can do at best for an account; each authorization says what it can itself. */
export async function describe(context: Context, { account }: DescribeRequest): Promise<Description> {
  return described(!(await areFeaturesRefused(context.database.query, account, context.now())));
}

/** What Stripe can do for an account that has the card features, or that has not. */
export function described(features: boolean): Description {
  return {
    name: 'stripe',
    authorizations: { severalCaptures: features, increments: features, extension: false, refunds: true },
    tokens: true,
    checkouts: true,
    savedCards: true,
    credits: false,
    accepts: true,
    fences: true,
    acceptedLongest: { refund: durationFromMs(REFUND_EXPECTED_MS) },
    checkoutShortest: durationFromMs(CHECKOUT_SHORTEST_MS),
    checkoutLongest: durationFromMs(CHECKOUT_LONGEST_MS),
    currencies: CURRENCIES.flatMap((currency) => boundsOf(currency) ?? []),
  };
}

/** Stripe's own upper bounds differ by account, card and currency; Stripe says so when asked. */
function boundsOf(currency: string) {
  if (!stripeUnits(currency)) return undefined;
  const smallestAmount = [1n, 10n, 100n].find((amount) => toStripe(amount, currency) !== undefined);
  if (smallestAmount === undefined) return undefined;
  return { currency, smallestAmount, largestAmount: LARGEST_AMOUNT - (LARGEST_AMOUNT % smallestAmount) };
}
