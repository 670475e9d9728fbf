import { z } from 'zod';
import * as fields from './answer-fields.ts';

const { requestId, money, time } = fields;

const releaseReason = z.enum(['FINAL', 'RELEASED', 'EXPIRED']).meta({
  description: 'Why the rest was given back: by the last capture, by the merchant, or at the end of the period',
});

/** A hold in a list. */
export const ListedHold = z
  .object({
    requestId,
    status: fields.holdStatus,
    amount: money('Amount held'),
    currency: fields.currency,
    amountCaptured: money('Captured so far, later reversed captures included'),
    amountInFlight: money('Reserved by captures and releases without a result'),
    amountRemaining: money('Still capturable'),
    amountReleased: money('Given back'),
    amountReversed: money('Part of amountCaptured that the card scheme took back'),
    ...fields.parties,
    metadata: z.record(z.string(), z.string()).optional(),
    checkoutUrl: z.url().meta({ description: 'Where the customer enters a card, while that is possible' }).optional(),
    checkoutExpiresAt: time('Until when').optional(),
    createdAt: time('When it was asked for'),
    placedAt: time('When the processor placed it').optional(),
    expiresAt: time('When it ends by itself').optional(),
    closedAt: time('When it reached a final state').optional(),
    releaseReason: releaseReason.optional(),
    paymentMethodData: fields.paymentMethodData.optional(),
    tokenData: fields.tokenData.optional(),
    reference: fields.reference.optional(),
    ...fields.processorFields,
  })
  .meta({ id: 'ListedHold', description: 'A hold without its handle' });

/** A hold, with its handle once it is placed. */
export const Hold = ListedHold.extend({ preauthorizationId: fields.preauthorizationId.optional() }).meta({
  id: 'Hold',
  description: 'amount = amountCaptured + amountInFlight + amountRemaining + amountReleased',
});

/** A hold that waits for a card. */
export const OpenCheckout = z
  .object({
    requestId,
    status: z.literal('IN_PROGRESS'),
    checkoutUrl: z.url().meta({ description: 'Forward the customer there; carries a capability, do not log it' }),
    checkoutExpiresAt: time('Until when it accepts a card'),
  })
  .meta({ id: 'OpenCheckout' });

/** A capture; the date, the bank reference and the amounts stand only where it is OK. */
export const Capture = z
  .object({
    requestId,
    holdRequestId: requestId,
    status: fields.operationStatus,
    amount: money('Amount of this capture'),
    currency: fields.currency,
    finalCapture: z.boolean().meta({ description: 'Whether it was asked to close the hold' }),
    captureDate: time('Proof of completion').optional(),
    amountCaptured: money('Charged by this capture').optional(),
    amountRemaining: money('Left of the hold right after it').optional(),
    amountReleased: money('Given back of the hold right after it').optional(),
    bankReference: fields.bankReference.optional(),
    preauthorizationStatus: fields.holdStatus.optional(),
    reference: fields.reference.optional(),
    ...fields.processorFields,
    reversed: z.boolean().meta({ description: 'Whether the card scheme took it back' }),
    createdAt: time('When it was asked for'),
  })
  .meta({ id: 'Capture' });

/** Answer of GET /preauthorization/{requestId}. */
export const HoldWithCaptures = Hold.extend({
  captures: z.array(Capture).meta({ description: 'Oldest first' }),
}).meta({ id: 'HoldWithCaptures' });

/** Answer of POST /preauthorization/release. */
export const ReleasedHold = Hold.extend({
  releaseRequestId: requestId
    .meta({ description: 'Names the release, also of a checkout that was cancelled' })
    .optional(),
}).meta({ id: 'ReleasedHold' });

export const HoldPage = fields.pageOf(ListedHold).meta({ id: 'HoldPage', description: 'Newest first' });
