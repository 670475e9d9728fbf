import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { defined } from '../../resource/core-messages.ts';
import { RECOVER_DESCRIPTION, RecoveredDeliveries, recoverFields } from '../../resource/recover.ts';
import { merchantId } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

const RecoverDeliveries = z
  .strictObject({ merchantId: merchantId.optional(), ...recoverFields })
  .meta({ id: 'RecoverDeliveries', description: 'Makes due now what was not delivered' });

export const recoverOwnDeliveries = restRoute({
  method: 'post',
  path: '/deliveries/recover',
  tag: 'Webhook',
  summary: 'Send what was not delivered in a time now',
  description: `${RECOVER_DESCRIPTION} Refused as RATE_LIMITED above 6 times a minute.`,
  body: RecoverDeliveries,
  answers: { 202: { description: 'They wait for their attempts', schema: RecoveredDeliveries } },
  codes: WRITE,
  handler: async ({ ctx, core, merchantId, asKey, body }) => {
    const { count } = await core.notifications.recoverDeliveries(defined({ ...body, merchantId }), asKey);
    ctx.status = 202;
    ctx.body = { count };
  },
});
