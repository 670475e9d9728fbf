import type { MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { CURRENCIES } from '../../../platform/currencies.ts';
import type { DescribeRequest, DescribeResponseSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { chargeBounds } from '../amount.ts';
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
    authorizations: {
      severalCaptures: features,
      increments: features,
      extension: false,
      refunds: true,
      partialRelease: false,
    },
    tokens: true,
    checkouts: true,
    savedCards: true,
    credits: false,
    accepts: true,
    fences: true,
    stepUp: true,
    renewals: true,
    acceptedLongest: { refund: durationFromMs(REFUND_EXPECTED_MS) },
    checkoutShortest: durationFromMs(CHECKOUT_SHORTEST_MS),
    checkoutLongest: durationFromMs(CHECKOUT_LONGEST_MS),
    currencies: CURRENCIES.flatMap((currency) => chargeBounds(currency) ?? []),
  };
}
