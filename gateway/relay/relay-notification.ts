import { z } from 'zod';
import { BODY, READ } from '../http/problem-codes.ts';
import type { Route } from '../http/route.ts';
import { GRAMMAR, STATUS_INFO, UUID } from '../resource/identifiers.ts';

/** A notification of any sender: its signed fields. The relay forwards all other fields unchanged. */
const RelayedNotification = z
  .looseObject({
    merchantId: z.string().regex(GRAMMAR.merchantId).meta({ description: 'Decides whose secrets verify it' }),
    requestId: z.string().regex(GRAMMAR.requestId).meta({ description: 'Accepted once for each merchant, for ever' }),
    status: z.string().regex(GRAMMAR.status),
    amount: z
      .union([z.string().regex(GRAMMAR.amount), z.number().min(0)])
      .meta({ description: 'Signed as it is written: 10.50 is not 10.5; at most 12 digits and 4 decimals' }),
    currency: z.string().regex(GRAMMAR.currency),
  })
  .meta({ id: 'RelayedNotification', description: 'A notification with its five signed fields' });

export const relayNotification = {
  method: 'post',
  path: '/webhook/processor/{kind}/{statusInfo}',
  tag: 'Relay',
  summary: 'Verify, store and forward a notification',
  description:
    '200 means that it is on disk; it is forwarded once, byte for byte, to the internal URL of its merchant. Send ' +
    'again what was answered with 408, 429 or 503. 202 means that it is on disk in quarantine: its signature is ' +
    'genuine, but it contradicts an accepted one or its own path. An operator decides about it; sending it again ' +
    'changes nothing.',
  credential: 'serviceSignature',
  parameters: {
    kind: z.enum(['payment', 'oct']).meta({ description: 'What it is about', examples: ['payment'] }),
    statusInfo: z
      .string()
      .regex(STATUS_INFO)
      .meta({ description: 'What became of it; our own words must match kind and status', examples: ['captured'] }),
  },
  body: RelayedNotification,
  answers: {
    200: {
      description: 'Stored, now or before',
      schema: z.object({ requestId: z.string() }),
      headers: {
        'X-Relay-Duplicate': z.literal('true').meta({ description: 'It was stored before' }).optional(),
      },
    },
    202: {
      description: 'Stored in quarantine, now or before; not forwarded unless an operator releases it',
      schema: z.object({ requestId: z.string() }),
      headers: {
        'X-Relay-Held': z.enum(['conflict', 'contradiction']).meta({
          description:
            'conflict: another kind, status, amount or currency was accepted with this requestId. contradiction: ' +
            'statusInfo does not match kind or status; the requestId stays free',
        }),
      },
    },
  },
  codes: [...READ, ...BODY, 'NOT_FOUND', 'METHOD_NOT_ALLOWED'],
  again: 'is a duplicate, and forwarded once',
  promises: {
    408: 'Nothing was stored: send it again.',
    429: 'Nothing was stored: send it again after Retry-After.',
    503:
      'It may have been stored: send it again after Retry-After. What is stored already is a duplicate, forwarded ' +
      'once.',
  },
} as const satisfies Route;

/** The same for another sender of a merchant's. Its body may be anything. */
export const relaySenderNotification = {
  method: 'post',
  path: '/webhook/relay/{senderId}',
  tag: 'Relay',
  summary: "Verify, store and forward a notification of a merchant's other sender",
  description:
    "Verified by the sender's scheme: `service-signature`, `standard-webhooks`, `hmac-sha256-body` or `ed25519-body`. " +
    '200 means that it is on disk; it is forwarded once, byte for byte, to the internal URL of the merchant. An ' +
    'unknown sender, a wrong signature and a stale time are the same 401. Send again what was answered with 408, ' +
    '429 or 503. 202 means that it is on disk in quarantine: another body was accepted under its identifier. The ' +
    'body need not be JSON.',
  credential: 'senderSignature',
  parameters: {
    senderId: z
      .string()
      .regex(UUID)
      .meta({ description: 'Names the sender (UUIDv7)', examples: ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'] }),
  },
  body: z.looseObject({}).meta({ id: 'SenderNotification', description: 'What the sender sends, whatever it is' }),
  answers: {
    200: relayNotification.answers[200],
    202: {
      ...relayNotification.answers[202],
      headers: {
        'X-Relay-Held': z
          .literal('conflict')
          .meta({ description: 'Another body was accepted under the same identifier' }),
      },
    },
  },
  codes: [...READ, 'REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE', 'NOT_FOUND', 'METHOD_NOT_ALLOWED'],
  again: relayNotification.again,
  promises: relayNotification.promises,
} as const satisfies Route;

/** The relay's part of the OpenAPI document. */
export const RELAY_ROUTES = { relayNotification, relaySenderNotification };
