import { z } from 'zod';
import { GetOverviewResponseSchema, MinuteSchema } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { time } from '../../resource/answer-fields.ts';
import { messageJson } from '../../resource/core-messages.ts';
import { queryInteger } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const count = (description: string) => z.int().min(0).meta({ description });

const ProcessorOverview = z
  .object({
    processor: z
      .string()
      .meta({ description: 'Its name; `default` = the only one, which has none', examples: ['stripe'] }),
    configured: z.boolean().meta({ description: 'Whether core is configured to call it' }),
    available: z.boolean().meta({
      description:
        'Whether it answers, as far as the asked core knows; while not, its new holds and OCTs are refused with 503',
    }),
    unknownCount: count('Operations sent to it whose outcome is unknown'),
    oldestUnknownAt: time('When the oldest of them was asked for').optional(),
    needsReviewCount: count('Operations sent to it that only an operator can resolve'),
  })
  .meta({ id: 'ProcessorOverview', description: 'How things stand with a card processor' });

const Overview = z
  .object({
    expiringHoldCount: count('Open holds that end within 24 hours'),
    unknownCount: count('Operations whose outcome is unknown'),
    oldestUnknownAt: time('When the oldest of them was asked for').optional(),
    needsReviewCount: count('Operations that only an operator can resolve'),
    frozenHoldCount: count('Frozen holds'),
    quarantinedCount: count('Notifications set aside, nothing decided'),
    deadDeliveryCount: count('Deliveries whose every attempt failed'),
    dueDeliveryCount: count('Deliveries whose next attempt is due'),
    oldestDueAt: time('When the oldest of them was due').optional(),
    pausedEndpointCount: count('Endpoints to which nothing is sent'),
    at: time('When this was so'),
    processors: z
      .array(ProcessorOverview)
      .meta({ description: 'Those that are configured, then others at which something is open' }),
  })
  .meta({ id: 'Overview', description: 'What may need attention; counts stop at 10 000' });

const overviewJson = messageJson(Overview, GetOverviewResponseSchema);

export const getOverview = operatorRoute({
  method: 'get',
  path: '/operator/overview',
  tag: 'Operators: overview',
  summary: 'Count what may need attention',
  description: 'Each count stops at 10 000. Of every card processor it says whether it answers and what is open there.',
  answers: { 200: { description: 'The counts', schema: Overview } },
  codes: READ,
  handler: async ({ ctx, core, asOperator }) => {
    ctx.body = overviewJson(await core.operators.getOverview({}, asOperator));
  },
});

const Minute = z
  .object({
    start: time('When the minute began'),
    okCount: count('Operations that ended OK'),
    koCount: count('Operations that ended KO'),
    deliveryCount: count('Deliveries created'),
    deliveredCount: count('Those of them that are delivered by now'),
    verifiedCount: count('Notifications that the relay verified and accepted'),
    refusedCount: count('Notifications that the relay could not verify'),
  })
  .meta({ id: 'Minute' });

const minuteJson = messageJson(Minute, MinuteSchema);

const Minutes = z.object({ items: z.array(Minute) }).meta({ id: 'Minutes', description: 'Oldest first' });

export const listMinutes = operatorRoute({
  method: 'get',
  path: '/operator/overview/series',
  tag: 'Operators: overview',
  summary: 'Count by minute: operations OK and KO, deliveries, notifications verified and refused',
  description:
    'One item for each minute, the present one last. What was before the newest 200 000 results and deliveries is ' +
    'not counted.',
  query: z.strictObject({
    minutes: queryInteger(1, 180)
      .meta({ description: 'Minutes, the present one included; default 60', examples: [60] })
      .optional(),
    merchantId: merchantId.optional(),
  }),
  answers: { 200: { description: 'The minutes', schema: Minutes } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query: { minutes = 60, merchantId = '' } }) => {
    const answer = await core.operators.listMinutes({ minuteCount: minutes, merchantId }, asOperator);
    ctx.body = { items: answer.minutes.map(minuteJson) };
  },
});
