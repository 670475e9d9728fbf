import { WRITE } from '../../http/problem-codes.ts';
import { uuid } from '../../resource/request-fields.ts';
import { CreatedSigningSecret, SigningSecret } from '../../resource/signing-secret.ts';
import { NoFields, restRoute } from '../route.ts';

export const addOwnSigningSecret = restRoute({
  method: 'post',
  path: '/signing-secrets',
  tag: 'Webhook',
  summary: 'Add a second signing secret, shown once',
  description:
    'The older secret makes `X-Service-Signature` until it is retired; `webhook-signature` has one signature of ' +
    'each. Refused as INVALID_REQUEST while two are live.',
  body: NoFields,
  answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
  codes: WRITE,
  handler: async ({ core, merchantId, asKey }) => {
    const { signingSecret: added, secret } = await core.merchants.addSigningSecret({ merchantId }, asKey);
    return { ...SigningSecret.json(added), signingSecret: secret };
  },
});

export const retireOwnSigningSecret = restRoute({
  method: 'delete',
  path: '/signing-secrets/{signingSecretId}',
  tag: 'Webhook',
  summary: 'End a signing secret; not the last one',
  description: 'Once more changes nothing. Refused as INVALID_REQUEST for the last live one.',
  parameters: { signingSecretId: uuid('secret') },
  answers: { 204: { description: 'Retired' } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, merchantId, asKey, params }) => {
    await core.merchants.retireSigningSecret({ ...params, merchantId }, asKey);
  },
});
