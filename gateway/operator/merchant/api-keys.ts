import assert from 'node:assert/strict';
import { z } from 'zod';
import type { ApiKey as CoreApiKey } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import { time as timeField } from '../../resource/answer-fields.ts';
import { time } from '../../resource/from-core.ts';
import { merchantId, NoBody, uuid } from '../fields.ts';
import { operatorRoute } from '../route.ts';

/** An API key without its value. */
export const ApiKey = z
  .object({
    apiKeyId: uuid('key'),
    last4: z.string().meta({ description: 'Its last four characters' }),
    createdAt: timeField('When it was created'),
    revokedAt: timeField('When it was revoked').optional(),
  })
  .meta({ id: 'ApiKey', description: 'What may be shown of an API key' });

/** The value, in the one answer that carries it. */
export const apiKey = z.string().meta({ description: 'The key; shown this once' });

const CreatedApiKey = ApiKey.extend({ apiKey }).meta({ id: 'CreatedApiKey' });

export const createApiKey = operatorRoute({
  method: 'post',
  path: '/operator/merchants/{merchantId}/api-keys',
  tag: 'Operators: merchants',
  summary: 'Add an API key, shown once',
  parameters: { merchantId },
  body: NoBody,
  answers: { 201: { description: 'Created', schema: CreatedApiKey } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND'],
  handler: async ({ ctx, core, asOperator, params }) => {
    const { apiKey: created, key: apiKey } = await core.merchants.createApiKey(params, asOperator);
    assert(created, 'core answers with the key');
    ctx.status = 201;
    ctx.body = { ...apiKeyJson(created), apiKey };
  },
});

export const revokeApiKey = operatorRoute({
  method: 'delete',
  path: '/operator/merchants/{merchantId}/api-keys/{apiKeyId}',
  tag: 'Operators: merchants',
  summary: 'End an API key; gateways stop taking it within 5 seconds',
  parameters: { merchantId, apiKeyId: uuid('key') },
  answers: { 204: { description: 'Revoked' } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND'],
  handler: async ({ ctx, core, asOperator, params }) => {
    await core.merchants.revokeApiKey(params, asOperator);
    ctx.status = 204;
  },
});

/** An API key of core's as JSON. */
export function apiKeyJson(key: CoreApiKey) {
  return { apiKeyId: key.apiKeyId, last4: key.last4, createdAt: time(key.createdAt), revokedAt: time(key.revokedAt) };
}
