import { z } from 'zod';
import { MinuteSchema } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { time } from '../../resource/answer-fields.ts';
import { messageJson } from '../../resource/core-messages.ts';
import { queryInteger } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const count = (description: string) => z.int().min(0).meta({ description });

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
