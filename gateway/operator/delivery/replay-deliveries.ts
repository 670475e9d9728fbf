import { z } from 'zod';
import { DeliveryState, EndpointKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import { endpointKind } from '../../resource/delivery.ts';
import { time } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const ReplayDeliveries = z
  .strictObject({
    merchantId,
    endpointKind: endpointKind.transform((kind) => EndpointKind[kind]).optional(),
    state: z
      .enum(['DELIVERED', 'DEAD'])
      .meta({ description: 'Which of those that ended; default DEAD' })
      .transform((state) => DeliveryState[state])
      .optional(),
    createdFrom: time.optional(),
    createdTo: time.optional(),
    maxCount: z.int().min(1).max(10_000).meta({ description: 'Most deliveries; default 1 000' }).optional(),
    perSecond: z.int().min(1).max(1_000).meta({ description: 'Attempts per second; default 20' }).optional(),
  })
  .meta({ id: 'ReplayDeliveries', description: 'Sends deliveries that have ended again, oldest first' });

const ReplayedDeliveries = z
  .object({
    replayedCount: z.int().min(0),
    more: z.boolean().meta({ description: 'Whether more may match than were taken' }),
  })
  .meta({ id: 'ReplayedDeliveries' });

export const replayDeliveries = operatorRoute({
  method: 'post',
  path: '/operator/deliveries/replay',
  tag: 'Operators: deliveries',
  summary: 'Send a range of deliveries again',
  description:
    'Takes deliveries of one merchant that have ended, oldest first, and spreads them over time. `more` says ' +
    'whether others match; the same call again takes those.',
  body: ReplayDeliveries,
  answers: { 200: { description: 'They wait for their attempts', schema: ReplayedDeliveries } },
  codes: WRITE,
  handler: async ({ ctx, core, asOperator, body }) => {
    const { replayedCount, more } = await core.notifications.replayDeliveries(body, asOperator);
    ctx.body = { replayedCount, more };
  },
});
