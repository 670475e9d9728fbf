import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Middleware } from 'koa';
import type { z } from 'zod';
import type { ContractSchema } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Core } from '../core.ts';
import { some } from '../rest/answer/words.ts';
import { defined } from '../rest/defined.ts';
import { readQuery } from '../rest/read-query.ts';
import { NoQuery } from '../rest/schema/fields.ts';
import { apiKeyJson, merchantJson, signingSecretJson } from './answer/merchant.ts';
import { callOf } from './authenticate.ts';
import { readFields, readName } from './read-fields.ts';
import type { MERCHANT_ROUTES } from './routes/merchant.ts';
import { NoBody } from './schema/fields.ts';
import { type Contract, CreateMerchantBody, ListMerchantsQuery, UpdateMerchantBody } from './schema/merchant.ts';

/** Merchants. Only the answer that creates a key or a secret carries it. */
export function merchantHandlers({
  merchants,
}: Pick<Core, 'merchants'>): Record<keyof typeof MERCHANT_ROUTES, Middleware> {
  return {
    listMerchants: async (ctx) => {
      const { pageSize, ...query } = readQuery(ctx, ListMerchantsQuery);
      const request = defined({ ...query, pageSize: Number(pageSize ?? 0) });
      const page = await merchants.listMerchants(request, callOf(ctx));
      ctx.body = { items: page.merchants.map(merchantJson), nextPageToken: some(page.nextPageToken) };
    },
    createMerchant: async (ctx) => {
      const { contract, ...body } = await readFields(ctx, CreateMerchantBody);
      const created = await merchants.createMerchant({ ...body, contract: contractOf(contract) }, callOf(ctx));
      const { merchant, apiKey, signingSecret } = created;
      ctx.status = 201;
      ctx.body = { merchant: merchant && merchantJson(merchant), apiKey, signingSecret };
    },
    getMerchant: async (ctx) => {
      readQuery(ctx, NoQuery);
      const { merchant } = await merchants.getMerchant({ merchantId: readName(ctx, 'merchantId') }, callOf(ctx));
      ctx.body = merchant && merchantJson(merchant);
    },
    updateMerchant: async (ctx) => {
      const merchantId = readName(ctx, 'merchantId');
      const { name, contract } = await readFields(ctx, UpdateMerchantBody);
      const request = { merchantId, name, contract: contractOf(contract) };
      const { merchant } = await merchants.updateMerchant(request, callOf(ctx));
      ctx.body = merchant && merchantJson(merchant);
    },
    createApiKey: async (ctx) => {
      const merchantId = readName(ctx, 'merchantId');
      await readFields(ctx, NoBody);
      const { apiKey, key } = await merchants.createApiKey({ merchantId }, callOf(ctx));
      assert(apiKey, 'core answers with the key');
      ctx.status = 201;
      ctx.body = { ...apiKeyJson(apiKey), key };
    },
    revokeApiKey: async (ctx) => {
      const request = { merchantId: readName(ctx, 'merchantId'), apiKeyId: readName(ctx, 'apiKeyId') };
      await merchants.revokeApiKey(request, callOf(ctx));
      ctx.status = 204;
    },
    addSigningSecret: async (ctx) => {
      const merchantId = readName(ctx, 'merchantId');
      await readFields(ctx, NoBody);
      const { signingSecret, secret } = await merchants.addSigningSecret({ merchantId }, callOf(ctx));
      assert(signingSecret, 'core answers with the secret');
      ctx.status = 201;
      ctx.body = { ...signingSecretJson(signingSecret), secret };
    },
    retireSigningSecret: async (ctx) => {
      const request = { merchantId: readName(ctx, 'merchantId'), signingSecretId: readName(ctx, 'signingSecretId') };
      await merchants.retireSigningSecret(request, callOf(ctx));
      ctx.status = 204;
    },
  };
}

function contractOf({ holdPeriodSeconds, ...contract }: z.output<typeof Contract>) {
  const holdPeriod = holdPeriodSeconds === undefined ? undefined : { seconds: BigInt(holdPeriodSeconds) };
  return defined({ ...contract, holdPeriod }) as MessageInitShape<typeof ContractSchema>;
}
