import { WRITE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { NoBody, uuid } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';
import { QuarantinedNotification, quarantinedJson } from './relayed-notification.ts';

const common = {
  method: 'post',
  tag: 'Operators: relay',
  parameters: { quarantineId: uuid('notification that was set aside') },
  body: NoBody,
  answers: { 200: { description: 'It, as it is now', schema: QuarantinedNotification } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND'],
} as const;

export const releaseQuarantined = operatorRoute({
  ...common,
  path: '/operator/relay/quarantine/{quarantineId}/release',
  summary: 'Forward a notification that was set aside, once',
  description:
    "To the merchant's internal URL. Refused as INVALID_REQUEST when it was discarded or purged, or without an " +
    '`internalUrl`.',
  handler: async ({ ctx, core, asOperator, params }) => {
    const { notification } = await core.notifications.releaseQuarantinedNotification(params, asOperator);
    ctx.body = quarantinedJson(answered(notification));
  },
});

export const discardQuarantined = operatorRoute({
  ...common,
  path: '/operator/relay/quarantine/{quarantineId}/discard',
  summary: 'Decide that it is never forwarded',
  description: 'It stays in the list, as DISCARDED. Refused as INVALID_REQUEST when it was released.',
  handler: async ({ ctx, core, asOperator, params }) => {
    const { notification } = await core.notifications.discardQuarantinedNotification(params, asOperator);
    ctx.body = quarantinedJson(answered(notification));
  },
});
