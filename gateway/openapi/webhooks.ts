/** The notifications that merchants' backends receive (docs/notifications.md). */
import { z } from 'zod';
import { AMOUNT, TIME } from '../resource/answer-fields.ts';
import { KINDS } from '../resource/kinds.ts';
import { Operation } from '../resource/operation.ts';
import { ListedHold } from '../resource/payments.ts';
import { wordsOf } from '../resource/status-words.ts';
import { answerOf, ID, MERCHANT_ID } from './examples/example.ts';
import { contentOf, parametersOf } from './operation.ts';
import type { Schemas } from './schemas.ts';

const shown = Operation.schema.shape;
const ofHold = ListedHold.schema.shape;

const type = z.string().meta({
  description: 'What happened: kind and statusInfo of the path, here covered by webhook-signature; types may be added',
  examples: ['payment.captured', 'oct.paid'],
});

const HoldAfter = ListedHold.schema
  .pick({
    status: true,
    phase: true,
    amount: true,
    amountCaptured: true,
    amountRemaining: true,
    amountReleased: true,
    amountRefunded: true,
    amountReversed: true,
    expiresAt: true,
    guaranteedUntil: true,
  })
  .meta({
    id: 'HoldAfter',
    description: 'The hold right after this result, whatever has happened to it since; absent for OCTs',
  });

const Notification = z
  .object({
    merchantId: shown.merchantId,
    requestId: shown.requestId,
    status: z.enum(['OK', 'KO']),
    amount: AMOUNT.schema.meta({ description: 'As signed, character for character, minor units', examples: [4200] }),
    currency: shown.currency,
    paymentMethodData: ofHold.paymentMethodData,
    tokenData: ofHold.tokenData,
    reference: shown.reference,
    finalStateDate: TIME.schema.describe('When the operation became final'),
    expiresAt: TIME.schema
      .describe('Of an extension or renewal that is OK: when the hold ends by itself now')
      .optional(),
    guaranteedUntil: TIME.schema
      .describe('Of a hold, increment, extension or renewal that is OK: how long the card scheme guarantees it now')
      .optional(),
    operation: shown.operation,
    type,
    processorCode: shown.processorCode,
    processorMessage: shown.processorMessage,
    hold: HoldAfter.optional(),
    holdRequestId: shown.holdRequestId,
    captureRequestId: shown.captureRequestId,
    refundRequestId: shown.refundRequestId,
    octRequestId: shown.octRequestId,
    correctsRequestId: shown.correctsRequestId,
    merchantReference: shown.merchantReference,
    metadata: shown.metadata,
    reason: shown.reason,
    imported: z
      .literal(true)
      .describe(
        "It was imported from the processor's books after a restore: it may have been told before, under the same " +
          'requestId',
      )
      .optional(),
    sequence: z
      .int()
      .min(1)
      .meta({
        description: 'Which notification of its hold it is: 1, 2, 3 … in the order in which things became final',
        examples: [2],
      })
      .optional(),
    position: z
      .int()
      .min(1)
      .meta({
        description: 'Where its result stands among all results: a later one has a larger number',
        examples: [4711],
      }),
  })
  .meta({ id: 'Notification', description: 'The final result of an operation' });

const TestNotification = z
  .object({
    ...Notification.pick({ merchantId: true, requestId: true, currency: true }).shape,
    status: z.literal('OK'),
    amount: z.literal(0),
    finalStateDate: TIME.schema.describe('When it was asked for'),
    type: z.literal('payment.test'),
    test: z.literal(true),
  })
  .meta({ id: 'TestNotification', description: 'About nothing: no operation has this requestId' });

const OperationalNotification = z
  .object({
    ...Notification.pick({ merchantId: true, requestId: true, currency: true, status: true }).shape,
    amount: z.literal(0),
    finalStateDate: TIME.schema.describe('When it happened'),
    type: z.string().meta({ description: 'What happened; types may be added', examples: ['endpoint.failing'] }),
    endpointId: z.string().describe('The endpoint that it is about: default, internal, or a further one'),
    pause: z.string().describe('Why nothing is sent to the endpoint: BREAKER, GONE or OPERATOR').optional(),
    failingSince: TIME.schema.describe('When the first failure since its last success was').optional(),
    pausedUntil: TIME.schema.describe('When the endpoint is tried again').optional(),
    delivery: z
      .object({ deliveryId: z.string(), requestId: z.string(), type: z.string() })
      .describe('The dead delivery, and what it was about')
      .optional(),
    signingSecretId: z.string().describe('The secret that expires').optional(),
    expiresAt: TIME.schema.describe('When the secret is retired').optional(),
  })
  .meta({
    id: 'OperationalNotification',
    description: 'About an endpoint or a secret of the merchant: no operation has this requestId',
  });

const OPERATIONAL = {
  merchantId: MERCHANT_ID,
  requestId: ID.test,
  status: 'KO',
  amount: 0,
  currency: 'EUR',
  finalStateDate: '2026-11-21T16:00:00.000Z',
} as const;

const NOTIFICATION_HEADERS = {
  'X-Service-Signature': z
    .string()
    .describe(
      'Base64(HMAC-SHA256(secret, merchantId + requestId + status + amount + currency)); covers these five fields only',
    ),
  'webhook-id': z.string().describe('The same at every attempt (Standard Webhooks)'),
  'webhook-timestamp': z.string().describe('Seconds since 1970 of this attempt'),
  'webhook-signature': z.string().describe('v1,… once for each live secret; covers body and time'),
};

const captured = answerOf({ route: 'getOperatorOperation', name: 'capture' }) as object;
const oct = answerOf({ route: 'getOct', name: 'paid' }) as { readonly paymentMethodData: object };

/** The hold of the example, right after its first capture. */
function holdAfterCapture() {
  const placed = answerOf({ route: 'createPreauthorization', name: 'withToken' }) as object;
  const first = answerOf({ route: 'capturePreauthorization', name: 'partial' }) as FirstCapture;
  const { preauthorizationStatus: status, amount: amountCaptured, amountRemaining } = first;
  return HoldAfter.parse({ ...placed, status, amountCaptured, amountRemaining });
}

type FirstCapture = Readonly<Record<'preauthorizationStatus' | 'amount' | 'amountRemaining', unknown>>;

/** The webhooks: their words, their bodies, and an example: a result that the routes answer, too. */
export const NOTIFICATIONS = {
  paymentNotification: {
    kind: 'payment',
    summary: 'The final result of a payment operation',
    words: Object.keys(wordsOf('payment')),
    schema: Notification,
    name: KINDS.CAPTURE.successWord,
    example: Notification.parse({
      ...captured,
      paymentMethodData: oct.paymentMethodData,
      type: 'payment.captured',
      hold: holdAfterCapture(),
      sequence: 2,
      position: 4711,
    }),
  },
  octNotification: {
    kind: 'oct',
    summary: 'The final result of an OCT',
    words: Object.keys(wordsOf('oct')),
    schema: Notification,
    name: KINDS.OCT.successWord,
    example: Notification.parse({ ...oct, operation: 'OCT', type: 'oct.paid', position: 4712 }),
  },
  testNotification: {
    kind: 'payment',
    summary: 'A test that the merchant has asked for',
    words: ['test'],
    schema: TestNotification,
    name: 'test',
    example: {
      merchantId: MERCHANT_ID,
      requestId: ID.test,
      status: 'OK',
      amount: 0,
      currency: 'EUR',
      finalStateDate: '2026-11-21T16:00:00.000Z',
      type: 'payment.test',
      test: true,
    },
  },
  endpointNotification: {
    kind: 'endpoint',
    summary: 'Another endpoint of the merchant fails or is disabled',
    words: ['failing', 'disabled'],
    schema: OperationalNotification,
    name: 'failing',
    example: OperationalNotification.parse({
      ...OPERATIONAL,
      type: 'endpoint.failing',
      endpointId: 'default',
      pause: 'BREAKER',
      failingSince: '2026-11-21T15:59:48.000Z',
      pausedUntil: '2026-11-21T16:00:10.000Z',
    }),
  },
  deliveryNotification: {
    kind: 'delivery',
    summary: 'A delivery to another endpoint of the merchant is dead',
    words: ['dead'],
    schema: OperationalNotification,
    name: 'dead',
    example: OperationalNotification.parse({
      ...OPERATIONAL,
      type: 'delivery.dead',
      endpointId: 'default',
      delivery: { deliveryId: ID.delivery, requestId: ID.capture, type: 'payment.captured' },
    }),
  },
  signingSecretNotification: {
    kind: 'signing_secret',
    summary: 'A signing secret of another endpoint of the merchant expires within 7 days',
    words: ['expiring'],
    schema: OperationalNotification,
    name: 'expiring',
    example: OperationalNotification.parse({
      ...OPERATIONAL,
      status: 'OK',
      type: 'signing_secret.expiring',
      endpointId: 'default',
      signingSecretId: ID.secret,
      expiresAt: '2026-11-28T16:00:00.000Z',
    }),
  },
} as const;

/** The notifications to merchants, as OpenAPI webhooks. */
export function webhooksOf(schemas: Schemas) {
  const entries = Object.entries(NOTIFICATIONS).map(([name, { kind, summary, words, schema, example, ...told }]) => {
    const examples = [{ name: told.name, summary, value: example }];
    return [
      name,
      {
        post: {
          operationId: name,
          tags: ['Notifications'],
          summary,
          description:
            `Sent to \`{webhookUrl}/webhook/processor/${kind}/{statusInfo}\`, where statusInfo is ` +
            `${words.length === 1 ? '' : 'one of '}${words.join(', ')}. ` +
            (schema === OperationalNotification ? TO_THOSE_THAT_ASK : TO_ALL),
          security: [{ serviceSignature: [] }],
          parameters: parametersOf({ headers: NOTIFICATION_HEADERS }, [], schemas),
          requestBody: {
            required: true,
            content: { 'application/json': contentOf(schema, examples, ({ value }) => value, schemas) },
          },
          responses: RESPONSES,
        },
      },
    ] as const;
  });
  return Object.fromEntries(entries);
}

const TO_ALL =
  'At least once, in no promised order: take each requestId once, put those of a hold in order by `sequence`, and ' +
  'answer when it is stored.';

const TO_THOSE_THAT_ASK =
  'To endpoints whose `types` have it, or `endpoint.*`: never because they have none, and never to the endpoint that ' +
  'it is about. Once until that endpoint works again, or once for each secret; delivered like the others.';

const RESPONSES = {
  '2XX': { description: 'Stored; it is not sent again' },
  410: {
    description: 'Nobody listens here any more; nothing is sent until you set the address, or an operator resumes',
  },
  429: { description: 'Too fast; sent again after Retry-After' },
  503: { description: 'Not now; sent again after Retry-After' },
  default: { description: 'Sent again about 2 s, 10 s, 1 min, 5 min, 30 min, 2 h, 6 h, 12 h and 24 h later' },
};
