import { z } from 'zod';
import { pageOf, time } from '../../rest/schema/answer-fields.ts';
import * as fields from '../../rest/schema/fields.ts';
import { endpointKind, merchantId, notificationKind, uuid, word } from './fields.ts';

const state = z.enum(['PENDING', 'DELIVERED', 'DEAD']).meta({ description: 'Where it stands' });

/** Query of GET /operator/deliveries. Filters are joined by AND. */
export const ListDeliveriesQuery = z
  .strictObject({
    merchantId: merchantId.optional(),
    endpointKind: endpointKind.optional(),
    state: state.optional(),
    requestId: word(64).meta({ description: "The operation's, or the relayed notification's" }).optional(),
    holdRequestId: fields.requestId.optional(),
    ...fields.page,
  })
  .meta({ id: 'ListDeliveries' });

/** Body of POST /operator/deliveries/replay. */
export const ReplayDeliveriesBody = z
  .strictObject({
    merchantId,
    endpointKind: endpointKind.optional(),
    state: z.enum(['DELIVERED', 'DEAD']).meta({ description: 'Which of those that ended; default DEAD' }).optional(),
    createdFrom: fields.time.optional(),
    createdTo: fields.time.optional(),
    maxCount: z.int().min(1).max(10_000).meta({ description: 'Most deliveries; default 1 000' }).optional(),
    perSecond: z.int().min(1).max(1_000).meta({ description: 'Attempts per second; default 20' }).optional(),
  })
  .meta({ id: 'ReplayDeliveries', description: 'Sends deliveries that have ended again, oldest first' });

/** Answer of POST /operator/deliveries/replay. */
export const ReplayedDeliveries = z
  .object({
    replayedCount: z.int().min(0),
    more: z.boolean().meta({ description: 'Whether more may match than were taken' }),
  })
  .meta({ id: 'ReplayedDeliveries' });

const DeliveryAttempt = z
  .object({
    number: z.int().min(1),
    startedAt: time('When it started'),
    latencyMs: z.int().min(0),
    httpStatus: z.int().meta({ description: 'Absent = no answer' }).optional(),
    error: z.string().meta({ description: 'Why there was no success' }).optional(),
    responseHead: z.string().meta({ description: 'The first 1 024 bytes of the answer, as text' }).optional(),
  })
  .meta({ id: 'DeliveryAttempt' });

/** Getting one notification to one endpoint. */
export const Delivery = z
  .object({
    deliveryId: uuid('delivery'),
    merchantId,
    endpointKind,
    requestId: z.string().meta({ description: "The operation's, or the relayed notification's" }),
    kind: notificationKind,
    statusInfo: z.string().meta({ examples: ['captured'] }),
    state,
    attemptCount: z.int().min(0),
    dueAt: time('When the next attempt is due').optional(),
    createdAt: time('When it was created'),
    deliveredAt: time('When it was delivered').optional(),
  })
  .meta({ id: 'Delivery' });

export const DeliveryPage = pageOf(Delivery).meta({ id: 'DeliveryPage', description: 'Newest first' });

export const DeliveryWithAttempts = Delivery.extend({
  attempts: z.array(DeliveryAttempt).meta({ description: 'Oldest first' }),
}).meta({ id: 'DeliveryWithAttempts' });

/** An endpoint that fails or is paused. */
export const Endpoint = z
  .object({
    merchantId,
    endpointKind,
    pause: z
      .enum(['GONE', 'OPERATOR', 'BREAKER'])
      .meta({ description: 'Why nothing is sent: it answered 410, an operator said so, it fails all the time' })
      .optional(),
    pausedUntil: time("When the breaker's pause is over").optional(),
    failureCount: z.int().min(0).meta({ description: 'Failures since the last success' }),
    changedAt: time('When any of this changed last'),
  })
  .meta({ id: 'Endpoint' });

export const EndpointPage = pageOf(Endpoint).meta({ id: 'EndpointPage', description: 'By merchant' });
