import { z } from 'zod';
import { EndpointKindSchema } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { numberOf } from './contract-field.ts';
import { time } from './request-fields.ts';

/** Which deliveries to recover, besides whose. */
export const recoverFields = {
  since: time,
  until: time.optional(),
  endpointKind: numberOf(EndpointKindSchema).optional(),
};

/** How many deliveries were recovered. */
export const RecoveredDeliveries = z
  .object({
    count: z
      .int()
      .min(0)
      .meta({ description: 'How many are due now; 10 000: more may match, call again', examples: [12] }),
  })
  .meta({ id: 'RecoveredDeliveries' });

export const RECOVER_DESCRIPTION =
  'What was not delivered in that time is due now, oldest first, at most 10 000: what waits for a later attempt ' +
  'keeps its schedule, and what has ended as DEAD begins a new one. Left out is what was purged or had 200 attempts.';
