import { WRITE } from '../../http/problem-codes.ts';
import { merchantId, NoBody, uuid } from '../../resource/request-fields.ts';
import { CreatedSigningSecret, SigningSecret } from '../../resource/signing-secret.ts';
import { operatorRoute } from '../route.ts';

export const addSigningSecret = operatorRoute({
  method: 'post',
  path: '/operator/merchants/{merchantId}/signing-secrets',
  tag: 'Operators: merchants',
  summary: 'Add a second signing secret, shown once',
  description:
    'The older secret makes `X-Service-Signature` until it is retired; the relay accepts signatures of both. ' +
    'Refused as INVALID_REQUEST while two are live.',
  parameters: { merchantId },
  body: NoBody,
  answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, asOperator, params }) => {
    const { signingSecret: added, secret: signingSecret } = await core.merchants.addSigningSecret(params, asOperator);
    return { ...SigningSecret.json(added), signingSecret };
  },
});

export const retireSigningSecret = operatorRoute({
  method: 'delete',
  path: '/operator/merchants/{merchantId}/signing-secrets/{signingSecretId}',
  tag: 'Operators: merchants',
  summary: 'End a signing secret; not the last one',
  description:
    'Gateways refuse its signatures within seconds. Once more changes nothing. Refused as INVALID_REQUEST for the ' +
    'last live one.',
  parameters: { merchantId, signingSecretId: uuid('secret') },
  answers: { 204: { description: 'Retired' } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, asOperator, params }) => {
    await core.merchants.retireSigningSecret(params, asOperator);
  },
});
