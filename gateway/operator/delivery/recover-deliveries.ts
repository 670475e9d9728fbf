import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { defined } from '../../resource/core-messages.ts';
import { RECOVER_DESCRIPTION, RecoveredDeliveries, recoverFields } from '../../resource/recover.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const OperatorRecoverDeliveries = z.strictObject({ merchantId: merchantId.optional(), ...recoverFields }).meta({
  id: 'OperatorRecoverDeliveries',
  description: 'Makes due now what was not delivered; without merchantId of all',
});

export const recoverDeliveries = operatorRoute({
  method: 'post',
  path: '/operator/deliveries/recover',
  tag: 'Operators: deliveries',
  summary: 'Send what was not delivered in a time now',
  description: RECOVER_DESCRIPTION,
  body: OperatorRecoverDeliveries,
  answers: { 202: { description: 'They wait for their attempts', schema: RecoveredDeliveries } },
  codes: WRITE,
  handler: async ({ ctx, core, asOperator, body }) => {
    const { count } = await core.notifications.recoverDeliveries(defined(body), asOperator);
    ctx.status = 202;
    ctx.body = { count };
  },
});
