import { z } from 'zod';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import {
  HoldPhase,
  HoldStatus,
  type Preauthorization,
  PreauthorizationSchema,
  type ReleasePreauthorizationResponse,
} from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import * as fields from './answer-fields.ts';
import { answered, messageJson, money, processorFields, time } from './core-messages.ts';
import * as requested from './request-fields.ts';
import type { Outcome } from './write-operation.ts';

const releaseReason = z.enum(['FINAL', 'RELEASED', 'EXPIRED']).meta({
  description:
    'Why the rest was given back: by the last capture, by the merchant or a void at the processor, or at the end of the period or of the authorization',
});

export const holdPhase = z
  .enum(['AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'CLOSED', 'FAILED'])
  .meta({
    description:
      'Where it is in its life: the customer has not paid yet, the processor was asked, its answer was lost, placed and open, placed and ended, never placed',
  });

/** A hold in a list: without its preauthorizationId, which only answers about that one hold carry. */
export const ListedHold = z
  .object({
    requestId: fields.requestId,
    status: fields.holdStatus,
    phase: holdPhase,
    amount: fields.money('Amount held, increments that were OK included'),
    currency: fields.currency,
    amountCaptured: fields.money('Captured so far, later reversed captures included'),
    amountInFlight: fields.money('Reserved by captures and releases without a result'),
    amountRemaining: fields.money('Still capturable; 0 until it is placed'),
    amountReleased: fields.money('Given back; 0 of a hold that was never placed'),
    amountReversed: fields.money('Part of amountCaptured that the card scheme took back and did not give again'),
    amountRefunded: fields.money('Part of amountCaptured that refunds gave back'),
    ...fields.parties,
    description: z
      .string()
      .meta({ description: 'What it is for', examples: ['Room 12, two nights'] })
      .optional(),
    customerPresent: z
      .boolean()
      .meta({ description: 'Whether the customer took part; false = the merchant initiated it' }),
    expectedCaptureAt: fields.time('When the merchant expected to capture').optional(),
    captureAt: fields.time('When what remains is captured by itself, once').optional(),
    releaseAt: fields.time('When it expires, if that is before expiresAt').optional(),
    renews: fields.requestId.meta({ description: 'The hold that it renews' }).optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    checkoutUrl: z.url().meta({ description: 'Where the customer enters a card, while that is possible' }).optional(),
    checkoutExpiresAt: fields.time('Until when').optional(),
    createdAt: fields.time('When it was asked for'),
    placedAt: fields.time('When the processor placed it').optional(),
    expiresAt: fields.time('When it ends by itself').optional(),
    closedAt: fields.time('When it reached a final state').optional(),
    releaseReason: releaseReason.optional(),
    paymentMethodData: fields.paymentMethodData.optional(),
    tokenData: fields.tokenData.optional(),
    reference: fields.reference.optional(),
    ...fields.processorFields,
  })
  .meta({ id: 'ListedHold', description: 'A hold without its handle' });

/** What a hold's JSON has besides the message's fields. The checkout's expiry is shown while its page is open. */
export const holdFields = {
  ...processorFields,
  // What operators review is unknown to the merchant.
  phase: ({ phase }: Preauthorization) => (phase === HoldPhase.NEEDS_REVIEW ? 'UNKNOWN' : HoldPhase[phase]),
  checkoutExpiresAt: ({ checkoutUrl, checkoutExpiresAt }: Preauthorization) =>
    checkoutUrl === '' ? undefined : time(checkoutExpiresAt),
  tokenData: ({ generatedTokenId: tokenId }: Preauthorization) => (tokenId === '' ? undefined : { tokenId }),
};

/** A hold of core's as JSON, without its preauthorizationId. */
export const listedHoldJson = messageJson(ListedHold, PreauthorizationSchema, holdFields);

/**
 * What a request to change a hold answers; `body` makes it of the hold right after it and of the requestId of the
 * change.
 */
export function actOutcome(
  { preauthorization, requestId, state, replayed }: Acted,
  body: (hold: Preauthorization, requestId: string) => { readonly requestId: string },
): Outcome {
  const hold = answered(preauthorization);
  if (state !== OperationState.OK) return { inProgress: { requestId, holdRequestId: hold.requestId }, replayed };
  return { status: 200, body: body(hold, requestId), replayed };
}

type Acted = Pick<ReleasePreauthorizationResponse, 'preauthorization' | 'requestId' | 'state' | 'replayed'>;

/** An increment that was OK. */
export const Increment = z
  .object({
    requestId: fields.requestId,
    holdRequestId: fields.requestId,
    status: z.literal('OK'),
    amountAdded: fields.money('What was added'),
    amount: fields.money('Amount of the hold right after it'),
    currency: fields.currency,
    amountRemaining: fields.money('Still capturable right after it'),
    expiresAt: fields.time('When the hold ends by itself'),
  })
  .meta({ id: 'Increment' });

/** What a request to increment answers. */
export function incrementOutcome(response: Acted, amountAdded: bigint): Outcome {
  return actOutcome(response, (hold, requestId) => ({
    requestId,
    holdRequestId: hold.requestId,
    status: 'OK',
    amountAdded: money(amountAdded),
    amount: money(hold.amount),
    currency: hold.currency,
    amountRemaining: money(hold.amountRemaining),
    expiresAt: time(hold.expiresAt),
  }));
}

/** Filters of a list of holds, joined by AND. */
export const HoldFilters = z.strictObject({
  status: fields.holdStatus.transform((status) => HoldStatus[status]).optional(),
  ...requested.filters,
  terminalId: requested.terminalId.optional(),
  createdFrom: requested.time.optional(),
  createdTo: requested.time.optional(),
  expiringBefore: requested.time.optional(),
  ...requested.page,
});
