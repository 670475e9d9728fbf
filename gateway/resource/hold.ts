import { z } from 'zod';
import { OperationState, PaymentMethodSchema } from '../../proto/gen/holdfast/v1/payment_pb.js';
import {
  HoldPhase,
  HoldPhaseSchema,
  HoldStatusSchema,
  type Preauthorization,
  PreauthorizationSchema,
  type ReleasePreauthorizationResponse,
} from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { answer, type Json } from './answer.ts';
import * as fields from './answer-fields.ts';
import { Capture } from './capture.ts';
import { numberOf, words } from './contract-field.ts';
import { answered, money, time } from './core-messages.ts';
import * as requested from './request-fields.ts';
import type { Outcome } from './write-operation.ts';

export const PaymentMethodData = answer('PaymentMethodData', PaymentMethodSchema);

const TokenData = z
  .object({ tokenId: z.string() })
  .meta({ id: 'TokenData', description: 'The token that the checkout generated' });

/** How merchants see a hold. */
export const HOLD = {
  parts: { paymentMethod: PaymentMethodData, captures: Capture },
  own: {
    phase: {
      // What operators review is unknown to the merchant.
      schema: words(HoldPhaseSchema, ['NEEDS_REVIEW']),
      read: ({ phase }: Preauthorization) => (phase === HoldPhase.NEEDS_REVIEW ? 'UNKNOWN' : HoldPhase[phase]),
    },
    tokenData: {
      schema: TokenData.optional(),
      read: ({ generatedTokenId: tokenId }: Preauthorization) => (tokenId === '' ? undefined : { tokenId }),
    },
  },
} as const;

/** A hold in a list: without its preauthorizationId, which only answers about that one hold carry. */
export const ListedHold = answer('ListedHold', PreauthorizationSchema, {
  about: 'A hold without its handle',
  ...HOLD,
  without: ['preauthorizationId', 'generatedTokenId', 'frozen', 'captures'],
});

/**
 * What a request to change a hold answers; `body` makes it of the hold right after it and of the requestId of the
 * change.
 */
export function actOutcome(
  { preauthorization, requestId, state, replayed }: Acted,
  body: (hold: Preauthorization, requestId: string) => Json,
): Outcome {
  const hold = answered(preauthorization);
  if (state !== OperationState.OK) return { inProgress: { requestId, holdRequestId: hold.requestId }, replayed };
  return { body: body(hold, requestId), replayed };
}

type Acted = Pick<ReleasePreauthorizationResponse, 'preauthorization' | 'requestId' | 'state' | 'replayed'>;

export const Increment = z
  .object({
    requestId: fields.requestId,
    holdRequestId: fields.requestId,
    status: z.literal('OK'),
    amountAdded: fields.money('What was added'),
    amount: fields.money('Amount of the hold right after it'),
    currency: ListedHold.schema.shape.currency,
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

export const HoldFilters = z.strictObject({
  status: numberOf(HoldStatusSchema).optional(),
  ...requested.filters,
  terminalId: requested.terminalId.optional(),
  createdFrom: requested.time.optional(),
  createdTo: requested.time.optional(),
  expiringBefore: requested.time.optional(),
  ...requested.page,
});
