import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';
import { StoredNotification, senderRequestId, storedJson } from './relayed-notification.ts';

export const replayStored = operatorRoute({
  method: 'post',
  path: '/operator/relay/notifications/replay',
  tag: 'Operators: relay',
  summary: 'Forward an accepted notification, again if it was forwarded before',
  description:
    "To the merchant's internal URL, with the `webhook-id` that it had. Refused as INVALID_REQUEST when its body " +
    'was purged, or without an `internalUrl`.',
  body: z
    .strictObject({ merchantId, requestId: senderRequestId })
    .meta({ id: 'ReplayStored', description: 'Names a notification that was accepted' }),
  answers: { 200: { description: 'It, as it is now', schema: StoredNotification } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, body }) => {
    const { notification } = await core.notifications.replayStoredNotification(body, asOperator);
    ctx.body = storedJson(answered(notification));
  },
});
