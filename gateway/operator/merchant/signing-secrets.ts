import assert from 'node:assert/strict';
import { z } from 'zod';
import type { SigningSecret as CoreSigningSecret } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import { time as timeField } from '../../resource/answer-fields.ts';
import { time } from '../../resource/from-core.ts';
import { merchantId, NoBody, uuid } from '../fields.ts';
import { operatorRoute } from '../route.ts';

/** A signing secret without its value. */
export const SigningSecret = z
  .object({
    signingSecretId: uuid('secret'),
    createdAt: timeField('When it was created'),
    retiredAt: timeField('When it was retired').optional(),
  })
  .meta({ id: 'SigningSecret', description: 'What may be shown of a signing secret' });

/** The value, in the one answer that carries it. */
export const signingSecret = z.string().meta({ description: 'The secret; shown this once' });

const CreatedSigningSecret = SigningSecret.extend({ signingSecret }).meta({ id: 'CreatedSigningSecret' });

export const addSigningSecret = operatorRoute({
  method: 'post',
  path: '/operator/merchants/{merchantId}/signing-secrets',
  tag: 'Operators: merchants',
  summary: 'Add a second signing secret, shown once',
  parameters: { merchantId },
  body: NoBody,
  answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND'],
  handler: async ({ ctx, core, asOperator, params }) => {
    const { signingSecret: added, secret: signingSecret } = await core.merchants.addSigningSecret(params, asOperator);
    assert(added, 'core answers with the secret');
    ctx.status = 201;
    ctx.body = { ...signingSecretJson(added), signingSecret };
  },
});

export const retireSigningSecret = operatorRoute({
  method: 'delete',
  path: '/operator/merchants/{merchantId}/signing-secrets/{signingSecretId}',
  tag: 'Operators: merchants',
  summary: 'End a signing secret; not the last one',
  parameters: { merchantId, signingSecretId: uuid('secret') },
  answers: { 204: { description: 'Retired' } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND'],
  handler: async ({ ctx, core, asOperator, params }) => {
    await core.merchants.retireSigningSecret(params, asOperator);
    ctx.status = 204;
  },
});

/** A signing secret of core's as JSON. */
export function signingSecretJson(secret: CoreSigningSecret) {
  return {
    signingSecretId: secret.signingSecretId,
    createdAt: time(secret.createdAt),
    retiredAt: time(secret.retiredAt),
  };
}
