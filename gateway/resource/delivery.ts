import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import * as contract from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Core } from '../core/client.ts';
import type { Present } from '../http/route.ts';
import { answer, pageOf } from './answer.ts';
import { numberOf } from './contract-field.ts';
import { isRequestId } from './identifiers.ts';
import { Operation } from './operation.ts';
import { endpointId, page, requestIdFilter, text, timeBefore, timeFrom } from './request-fields.ts';

const HEADER = answer(undefined, contract.DeliveryHeaderSchema);

const DeliveryAttempt = answer('DeliveryAttempt', contract.DeliveryAttemptSchema);

/** The delivery of one notification to one endpoint, without its attempts. */
export const Delivery = answer('Delivery', contract.DeliverySchema, { without: ['attempts'] });

export const DeliveryWithAttempts = answer('DeliveryWithAttempts', contract.DeliverySchema, {
  parts: { attempts: DeliveryAttempt },
});

const WHOLE = answer('WholeDelivery', contract.GetDeliveryResponseSchema, {
  without: ['delivery'],
  parts: {
    content: answer('DeliveryContent', contract.DeliveryContentSchema, { parts: { headers: HEADER } }),
    operation: Operation,
  },
});

/** A delivery as its own route shows it. */
export const WholeDelivery = {
  schema: DeliveryWithAttempts.schema.extend(WHOLE.schema.shape).meta({ id: 'WholeDelivery' }),
  json: (response: contract.GetDeliveryResponse) => ({
    ...DeliveryWithAttempts.json(response.delivery),
    ...WHOLE.json(response),
  }),
};

/** Selects the attempts of a delivery; core answers with at most 50 at a time. */
export const AttemptsPage = z.strictObject(page);

export const DeliveryPage = pageOf('DeliveryPage', 'Newest first', Delivery, 'deliveries');

export const DeliveryFilters = z.strictObject({
  endpointKind: numberOf(contract.EndpointKindSchema).optional(),
  endpointId: endpointId.describe('Only to this endpoint').optional(),
  state: numberOf(contract.DeliveryStateSchema).optional(),
  requestId: text(64).describe("The operation's, or the relayed notification's").optional(),
  holdRequestId: requestIdFilter.optional(),
  createdFrom: timeFrom.optional(),
  createdTo: timeBefore.optional(),
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
  if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) return { items: [] };
  return DeliveryPage.json(await core.notifications.listDeliveries(filters, call));
}

/** Selects the deliveries to recover, besides their merchant. */
export const recoverFields = {
  since: timeFrom,
  until: timeBefore.optional(),
  endpointKind: numberOf(contract.EndpointKindSchema).optional(),
  endpointId: endpointId.describe('Only to this endpoint').optional(),
};

export const RecoveredDeliveries = z
  .object({
    count: z
      .int()
      .min(0)
      .meta({ description: 'How many are due now; 10 000: more may match, call again', examples: [12] }),
  })
  .meta({ id: 'RecoveredDeliveries' });

export const RECOVER_DESCRIPTION =
  'What was not delivered in that time is due now, at most 10 000: what waits for a later attempt ' +
  'keeps its schedule, and what has ended as DEAD begins a new one. Left out is what was purged or had 200 attempts.';
