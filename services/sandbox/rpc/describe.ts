import type { MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { DescribeResponseSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { CHECKOUT_PERIOD_MS } from './create-checkout.ts';

/** What the sandbox can do: everything, in every currency; it remembers identifiers for ever. */
export const DESCRIPTION: MessageInitShape<typeof DescribeResponseSchema> = {
  name: 'sandbox',
  authorizations: { severalCaptures: true, increments: true, extension: true, refunds: true },
  tokens: true,
  checkouts: true,
  savedCards: true,
  credits: true,
  accepts: true,
  fences: true,
  checkoutLongest: durationFromMs(CHECKOUT_PERIOD_MS),
};
