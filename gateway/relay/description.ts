import { z } from 'zod';
import type { Route } from '../route.ts';
import { STATUS_INFO } from './announced.ts';
import { GRAMMAR } from './notification.ts';

/** A notification of any sender: the signed fields as the relay reads them; it passes the others on untouched. */
export const RelayedNotification = z
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

/** The relay; its own router reads the path (announced.ts), for an escaped letter is not the letter. */
export const RELAY_ROUTES = {
  relayNotification: {
    method: 'post',
    path: '/webhook/processor/{kind}/{statusInfo}',
    tag: 'Relay',
    summary: 'Verify, store and forward a notification',
    description:
      '200 means that it is on disk; it is forwarded once, byte for byte, to the internal URL of its merchant. Send again ' +
      'what was answered with 408, 429 or 503. 202 means that it is on disk in quarantine: its signature is genuine, but ' +
      'it contradicts an accepted one or its own path. An operator decides about it; sending it again changes nothing.',
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
    codes: [
      'INVALID_REQUEST',
      'UNAUTHENTICATED',
      'NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'REQUEST_TIMEOUT',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'RATE_LIMITED',
      'INTERNAL',
      'UNAVAILABLE',
    ],
    promises: {
      408: 'Nothing was stored: send it again.',
      429: 'Nothing was stored: send it again after Retry-After.',
      503: 'It may have been stored: send it again after Retry-After. What is stored already is a duplicate, forwarded once.',
    },
  },
} as const satisfies Record<string, Route>;
