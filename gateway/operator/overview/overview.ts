import { z } from 'zod';
import {
  GetOverviewResponseSchema,
  MinuteSchema,
  ProcessorOverviewSchema,
} from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { answer } from '../../resource/answer.ts';
import { merchantId, queryInteger } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

const Overview = answer('Overview', GetOverviewResponseSchema, {
  parts: { processors: answer('ProcessorOverview', ProcessorOverviewSchema) },
});

export const getOverview = operatorRoute({
  path: '/operator/overview',
  tag: 'Operators: overview',
  summary: 'Count what may need attention',
  description: 'Each count stops at 10 000. Of every card processor it says whether it answers and what is open there.',
  answers: { 200: { description: 'The counts', schema: Overview.schema } },
  handler: async ({ core, asOperator }) => Overview.json(await core.operators.getOverview({}, asOperator)),
});

const Minute = answer('Minute', MinuteSchema);

const Minutes = z.object({ items: z.array(Minute.schema) }).meta({ id: 'Minutes', description: 'Oldest first' });

export const listMinutes = operatorRoute({
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
  handler: async ({ core, asOperator, query: { minutes = 60, merchantId = '' } }) => {
    const answer = await core.operators.listMinutes({ minuteCount: minutes, merchantId }, asOperator);
    return { items: answer.minutes.map(Minute.json) };
  },
});
