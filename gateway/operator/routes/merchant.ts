import { READ, WRITE } from '../../codes.ts';
import type { Route } from '../../route.ts';
import { merchantId, NoBody, uuid } from '../schema/fields.ts';
import {
  CreatedApiKey,
  CreatedMerchant,
  CreatedSigningSecret,
  CreateMerchantBody,
  ListMerchantsQuery,
  Merchant,
  MerchantPage,
  UpdateMerchantBody,
} from '../schema/merchant.ts';

const common = { tag: 'Operators: merchants', credential: 'operator' } as const;
const parameters = { merchantId };
const codes = [...WRITE, 'OPERATION_NOT_FOUND'] as const;

/** Merchants, their contracts and credentials. */
export const MERCHANT_ROUTES = {
  listMerchants: {
    ...common,
    method: 'get',
    path: '/operator/merchants',
    summary: 'List merchants',
    query: ListMerchantsQuery,
    answers: { 200: { description: 'A page', schema: MerchantPage } },
    codes: READ,
  },
  createMerchant: {
    ...common,
    method: 'post',
    path: '/operator/merchants',
    summary: 'Create a merchant; its API key and signing secret are shown once',
    body: CreateMerchantBody,
    answers: { 201: { description: 'Created', schema: CreatedMerchant } },
    codes: WRITE,
  },
  getMerchant: {
    ...common,
    method: 'get',
    path: '/operator/merchants/{merchantId}',
    summary: 'Look up a merchant',
    parameters,
    answers: { 200: { description: 'The merchant', schema: Merchant } },
    codes: [...READ, 'OPERATION_NOT_FOUND'],
  },
  updateMerchant: {
    ...common,
    method: 'put',
    path: '/operator/merchants/{merchantId}',
    summary: 'Replace name and contract; holds placed before keep their terms',
    parameters,
    body: UpdateMerchantBody,
    answers: { 200: { description: 'The merchant as it is now', schema: Merchant } },
    codes,
  },
  createApiKey: {
    ...common,
    method: 'post',
    path: '/operator/merchants/{merchantId}/api-keys',
    summary: 'Add an API key, shown once',
    parameters,
    body: NoBody,
    answers: { 201: { description: 'Created', schema: CreatedApiKey } },
    codes,
  },
  revokeApiKey: {
    ...common,
    method: 'delete',
    path: '/operator/merchants/{merchantId}/api-keys/{apiKeyId}',
    summary: 'End an API key; gateways stop taking it within 5 seconds',
    parameters: { merchantId, apiKeyId: uuid('key') },
    answers: { 204: { description: 'Revoked' } },
    codes,
  },
  addSigningSecret: {
    ...common,
    method: 'post',
    path: '/operator/merchants/{merchantId}/signing-secrets',
    summary: 'Add a second signing secret, shown once',
    parameters,
    body: NoBody,
    answers: { 201: { description: 'Created', schema: CreatedSigningSecret } },
    codes,
  },
  retireSigningSecret: {
    ...common,
    method: 'delete',
    path: '/operator/merchants/{merchantId}/signing-secrets/{signingSecretId}',
    summary: 'End a signing secret; not the last one',
    parameters: { merchantId, signingSecretId: uuid('secret') },
    answers: { 204: { description: 'Retired' } },
    codes,
  },
} as const satisfies Record<string, Route>;
