import { z } from 'zod';
import { EndpointSchema } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { parties, time as timeField } from './answer-fields.ts';
import { messageJson } from './core-messages.ts';
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
export const endpointJson = messageJson(Endpoint, EndpointSchema);
