import { type Draft, NEW_MERCHANT_ID } from '../example.ts';

const API_KEY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f3a01';
const NEXT_API_KEY_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f3a02';
const SECRET_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f3b01';
const NEXT_SECRET_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f3b02';
const CREATED_AT = '2026-11-21T09:00:00.000Z';

const contract = {
  allowMultipleCaptures: true,
  holdPeriodSeconds: 604_800,
  currencies: ['EUR', 'USD'],
  terminals: ['web'],
  notifyHolds: true,
  requireSignedCaptures: false,
  internalUrl: 'https://payments.globex.example',
};
const apiKey = { apiKeyId: API_KEY_ID, last4: 'Xq7c', managesWebhook: false, createdAt: CREATED_AT };
const nextApiKey = {
  apiKeyId: NEXT_API_KEY_ID,
  last4: 'b2Wk',
  managesWebhook: true,
  createdAt: '2026-11-21T10:00:00.000Z',
};
const secret = { signingSecretId: SECRET_ID, createdAt: CREATED_AT };
const nextSecret = { signingSecretId: NEXT_SECRET_ID, createdAt: '2026-11-21T10:05:00.000Z' };
const merchant = {
  merchantId: NEW_MERCHANT_ID,
  name: 'Globex',
  contract,
  apiKeys: [apiKey],
  signingSecrets: [secret],
  createdAt: CREATED_AT,
  warnings: [],
  etag: '41',
};
const renamed = { ...merchant, name: 'Globex Payments', contract: { ...contract, currencies: ['EUR'] } };

/** A merchant that comes, whose contract changes. */
export const MERCHANT_EXAMPLES: readonly Draft[] = [
  {
    route: 'createMerchant',
    name: 'globex',
    summary: 'A merchant whose other systems send signed notifications through the relay',
    body: { merchantId: NEW_MERCHANT_ID, name: 'Globex', contract },
    status: 201,
    answer: {
      merchant,
      apiKey: 'hf_4mZr8TqLw1nXcV6bYp3kHs9uJd2gRf5eAo7iNt0xQ7c',
      signingSecret: 'whsec_b3BlcmF0b3JzLXNlZS10aGlzLW9uY2UtZXhhbXBsZTE=',
    },
  },
  {
    route: 'listMerchants',
    name: 'all',
    summary: 'All of them',
    parameters: { pageSize: 200 },
    answer: { items: [merchant] },
  },
  {
    route: 'updateMerchant',
    name: 'contract',
    summary: 'One currency less, and another name',
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: { name: renamed.name, contract: renamed.contract },
    answer: renamed,
  },
  {
    route: 'createApiKey',
    name: 'second',
    summary: 'A second key, with which the merchant manages its webhook itself',
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: { managesWebhook: true },
    status: 201,
    answer: { ...nextApiKey, apiKey: 'hf_9cKe2VwPz5nLtB8xGy1mRq4jUf7hSd0aIo3kTb6vb2Wk' },
  },
  {
    route: 'addSigningSecret',
    name: 'second',
    summary: 'A second secret, to change over to',
    parameters: { merchantId: NEW_MERCHANT_ID },
    body: {},
    status: 201,
    answer: { ...nextSecret, signingSecret: 'whsec_b3BlcmF0b3JzLXNlZS10aGlzLW9uY2UtZXhhbXBsZTI=' },
  },
  {
    route: 'getMerchant',
    name: 'changingOver',
    summary: 'Between the old credentials and the new',
    parameters: { merchantId: NEW_MERCHANT_ID },
    answer: { ...renamed, apiKeys: [apiKey, nextApiKey], signingSecrets: [secret, nextSecret] },
  },
  {
    route: 'revokeApiKey',
    name: 'first',
    summary: 'The first key',
    parameters: { merchantId: NEW_MERCHANT_ID, apiKeyId: API_KEY_ID },
    status: 204,
  },
  {
    route: 'retireSigningSecret',
    name: 'first',
    summary: 'The first secret',
    parameters: { merchantId: NEW_MERCHANT_ID, signingSecretId: SECRET_ID },
    status: 204,
  },
];
