import { z } from 'zod';
import {
  type Endpoint as CoreEndpoint,
  EndpointKind,
  EndpointPause,
} from '../../proto/gen/holdfast/v1/notification_pb.js';
import { parties, time as timeField } from './answer-fields.ts';
import { time } from './core-messages.ts';
import { endpointKind } from './delivery.ts';

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
export function endpointJson(endpoint: CoreEndpoint) {
  return {
    merchantId: endpoint.merchantId,
    endpointKind: EndpointKind[endpoint.endpointKind],
    pause: endpoint.pause ? EndpointPause[endpoint.pause] : undefined,
    pausedUntil: time(endpoint.pausedUntil),
    failureCount: endpoint.failureCount,
    changedAt: time(endpoint.changedAt),
  };
}
