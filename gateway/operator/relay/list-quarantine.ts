import { z } from 'zod';
import { QuarantineState } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { pageOf } from '../../resource/answer-fields.ts';
import { pageJson } from '../../resource/core-messages.ts';
import { page } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { QuarantinedNotification, quarantinedJson, quarantineState } from './relayed-notification.ts';

const QuarantinePage = pageOf(QuarantinedNotification).meta({ id: 'QuarantinePage', description: 'Newest first' });

export const listQuarantine = operatorRoute({
  method: 'get',
  path: '/operator/relay/quarantine',
  tag: 'Operators: relay',
  summary: 'List verified notifications that were set aside',
  description:
    'Newest first. `reason` says what each contradicts; `accepted` is what was accepted under the same `requestId`.',
  query: z.strictObject({
    merchantId: merchantId.optional(),
    state: quarantineState.transform((name) => QuarantineState[name]).optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: QuarantinePage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { notifications, nextPageToken } = await core.notifications.listQuarantinedNotifications(query, asOperator);
    ctx.body = pageJson(notifications.map(quarantinedJson), nextPageToken);
  },
});
