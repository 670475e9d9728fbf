/** What merchants' backends receive (docs/product.md, "Notifications"). */
import { z } from 'zod';
import * as fields from '../rest/schema/answer-fields.ts';
import { Operation } from '../rest/schema/operation.ts';

/** The body of every notification. */
export const Notification = z
  .object({
    merchantId: fields.parties.merchantId,
    requestId: fields.requestId,
    status: z.enum(['OK', 'KO']),
    amount: fields.money('As signed, character for character').meta({ examples: [4200] }),
    currency: fields.currency,
    paymentMethodData: fields.paymentMethodData.optional(),
    tokenData: fields.tokenData.optional(),
    reference: fields.reference.optional(),
    finalStateDate: fields.time('When the operation became final'),
    operation: Operation.shape.operation,
    holdRequestId: fields.requestId.meta({ description: 'The hold that it belongs to' }).optional(),
    captureRequestId: fields.requestId.meta({ description: 'The capture that a reversal takes back' }).optional(),
    merchantReference: fields.parties.merchantReference,
  })
  .meta({ id: 'Notification', description: 'The final result of an operation' });

/** Headers that come with it. */
export const NOTIFICATION_HEADERS = {
  'X-Service-Signature': z.string().meta({
    description:
      'Base64(HMAC-SHA256(secret, merchantId + requestId + status + amount + currency)); covers these five fields only',
  }),
  'webhook-id': z.string().meta({ description: 'The same at every attempt (Standard Webhooks)' }),
  'webhook-timestamp': z.string().meta({ description: 'Seconds since 1970 of this attempt' }),
  'webhook-signature': z.string().meta({ description: 'v1,… once for each live secret; covers body and time' }),
};

/** One webhook for each kind: its words, which of them are a success, and an example. */
export const NOTIFICATIONS = {
  paymentNotification: {
    kind: 'payment',
    summary: 'The final result of a payment operation',
    words: ['authorized', 'captured', 'released', 'declined', 'failed', 'reversed', 'expired'],
    example: {
      merchantId: 'acme',
      requestId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a02',
      status: 'OK',
      amount: 1500,
      currency: 'EUR',
      paymentMethodData: { type: 'card', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034 },
      reference: 'sbx_KRP4JDTFh5tdQDD-',
      finalStateDate: '2026-11-21T12:00:05.000Z',
      operation: 'CAPTURE',
      holdRequestId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a01',
      merchantReference: 'order-1001',
    },
  },
  octNotification: {
    kind: 'oct',
    summary: 'The final result of an OCT',
    words: ['paid', 'declined', 'failed'],
    example: {
      merchantId: 'acme',
      requestId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a06',
      status: 'OK',
      amount: 2500,
      currency: 'EUR',
      paymentMethodData: { type: 'card', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034 },
      reference: 'sbx_RRYBPHqCg9rj4qcb',
      finalStateDate: '2026-11-21T12:01:00.000Z',
      operation: 'OCT',
      merchantReference: 'payout-7',
    },
  },
} as const;
