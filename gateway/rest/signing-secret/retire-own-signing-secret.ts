import { WRITE } from '../../http/problem-codes.ts';
import { uuid } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

export const retireOwnSigningSecret = restRoute({
  method: 'delete',
  path: '/signing-secrets/{signingSecretId}',
  tag: 'Webhook',
  summary: 'End a signing secret; not the last one',
  description: 'Once more changes nothing. Refused as INVALID_REQUEST for the last live one.',
  parameters: { signingSecretId: uuid('secret') },
  answers: { 204: { description: 'Retired' } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, merchantId, asKey, params }) => {
    await core.merchants.retireSigningSecret({ ...params, merchantId }, asKey);
    ctx.status = 204;
  },
});
