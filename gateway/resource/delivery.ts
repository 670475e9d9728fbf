import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import {
  DeliveryContentSchema,
  DeliverySchema,
  DeliveryState,
  EndpointKind,
  EndpointSchema,
  type GetDeliveryResponse,
} from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Core } from '../core/client.ts';
import type { Present } from '../http/route.ts';
import { pageOf, parties, time as timeField } from './answer-fields.ts';
import { answered, messageJson, pageJson, some } from './core-messages.ts';
import { isRequestId } from './identifiers.ts';
import { Operation, operationJson } from './operation.ts';
import { page, time as requestedTime, requestId, text, uuid } from './request-fields.ts';

export const endpointKind = z
  .enum(['WEBHOOK', 'INTERNAL'])
  .meta({ description: "Which of the merchant's endpoints: webhookUrl or internalUrl" });

export const notificationKind = z.enum(['PAYMENT', 'OCT']).meta({ description: 'Which message' });

/** State of a delivery. */
const deliveryState = z.enum(['PENDING', 'DELIVERED', 'DEAD']).meta({ description: 'Where it stands' });

/** The delivery of one notification to one endpoint. */
export const Delivery = z
  .object({
    deliveryId: uuid('delivery'),
    merchantId: parties.merchantId,
    endpointKind,
    requestId: z.string().meta({ description: "The operation's, or the relayed notification's" }),
    kind: notificationKind,
    statusInfo: z.string().meta({ examples: ['captured'] }),
    state: deliveryState,
    attemptCount: z.int().min(0),
    dueAt: timeField('When the next attempt is due').optional(),
    createdAt: timeField('When it was created'),
    deliveredAt: timeField('When it was delivered').optional(),
  })
  .meta({ id: 'Delivery' });

const DeliveryAttempt = z
  .object({
    number: z.int().min(1),
    startedAt: timeField('When it started'),
    latencyMs: z.int().min(0),
    httpStatus: z.int().meta({ description: 'Absent = no answer' }).optional(),
    error: z.string().meta({ description: 'Why there was no success' }).optional(),
    url: z.string().meta({ description: 'Where it went; absent = there was no address' }).optional(),
    responseHead: z
      .string()
      .meta({ description: 'The first 1 024 characters of the answer; signatures, tokens and card numbers are hidden' })
      .optional(),
  })
  .meta({ id: 'DeliveryAttempt' });

const DeliveryContent = z
  .object({
    url: z.string().meta({ description: 'Absent = the merchant has no such endpoint' }).optional(),
    headers: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .meta({ description: 'Empty once the body is purged. Operators see only the beginning of each signature' }),
    body: z
      .string()
      .meta({ description: 'As it is sent and signed; from operators, tokens are hidden. Absent once purged' })
      .optional(),
  })
  .meta({ id: 'DeliveryContent', description: 'What an attempt would send now' });

export const DeliveryWithAttempts = Delivery.extend({
  attempts: z.array(DeliveryAttempt).meta({ description: 'The newest 50, oldest first' }),
}).meta({ id: 'DeliveryWithAttempts' });

/** A delivery as its own route shows it. */
export const WholeDelivery = DeliveryWithAttempts.extend({
  content: DeliveryContent.optional(),
  operation: Operation.meta({
    description: 'What it is about; absent when the merchant has no such operation',
  }).optional(),
  nextPageToken: z.string().meta({ description: 'Absent = there are no earlier attempts' }).optional(),
}).meta({ id: 'WholeDelivery' });

/** Which attempts of a delivery to show; core answers with at most 50 at a time. */
export const AttemptsPage = z.strictObject(page);

/** A delivery of core's as JSON, without its attempts. */
export const deliveryJson = messageJson(Delivery, DeliverySchema);

/** A delivery of core's as JSON with its attempts, oldest first. */
export const deliveryWithAttemptsJson = messageJson(DeliveryWithAttempts, DeliverySchema);

const contentJson = messageJson(DeliveryContent, DeliveryContentSchema);

/** A delivery of core's as JSON, with all that core tells of it. */
export function wholeDeliveryJson({ delivery, content, operation, nextPageToken }: GetDeliveryResponse) {
  return {
    ...deliveryWithAttemptsJson(answered(delivery)),
    content: content && contentJson(content),
    operation: operation && operationJson(operation),
    nextPageToken: some(nextPageToken),
  };
}

export const DeliveryPage = pageOf(Delivery).meta({ id: 'DeliveryPage', description: 'Newest first' });

/** Filters of a list of deliveries, joined by AND. */
export const DeliveryFilters = z.strictObject({
  endpointKind: endpointKind.transform((kind) => EndpointKind[kind]).optional(),
  state: deliveryState.transform((state) => DeliveryState[state]).optional(),
  requestId: text(64).meta({ description: "The operation's, or the relayed notification's" }).optional(),
  holdRequestId: requestId.optional(),
  createdFrom: requestedTime.optional(),
  createdTo: requestedTime.optional(),
  ...page,
});

/**
 * A page of deliveries as JSON: of a merchant, or of all when it is absent. A malformed holdRequestId finds nothing.
 */
export async function deliveryPage(
  core: Core,
  filters: Present<z.output<typeof DeliveryFilters>> & { readonly merchantId?: string },
  call: GrpcCall,
) {
  if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) return pageJson([], '');
  const { deliveries, nextPageToken } = await core.notifications.listDeliveries(filters, call);
  return pageJson(deliveries.map(deliveryJson), nextPageToken);
}

/** An endpoint that fails or is paused. */
export const Endpoint = z
  .object({
    merchantId: parties.merchantId,
    endpointKind,
    pause: z
      .enum(['GONE', 'OPERATOR', 'BREAKER'])
      .meta({ description: 'Why nothing is sent: it answered 410, an operator said so, it fails all the time' })
      .optional(),
    pausedUntil: timeField("When the breaker's pause is over").optional(),
    failureCount: z.int().min(0).meta({ description: 'Failures since the last success' }),
    changedAt: timeField('When any of this changed last'),
  })
  .meta({ id: 'Endpoint' });

/** An endpoint of core's as JSON. */
export const endpointJson = messageJson(Endpoint, EndpointSchema);
