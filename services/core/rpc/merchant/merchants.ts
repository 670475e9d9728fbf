import { ContractSchema, MerchantSchema } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { endpointName } from '../../storage/endpoint/endpoint-row.ts';
import { insertMerchant, updateMerchant as updateStored } from '../../storage/merchant/change-merchant.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import {
  listMerchants as listStored,
  type MerchantWithCredentials,
  readMerchant,
} from '../../storage/merchant/read-merchants.ts';
import type { Method } from '../core.ts';
import { hurryTo } from '../endpoint/endpoints.ts';
import { readPage } from '../pages.ts';
import { present } from '../present.ts';
import { invalidField, noSuch } from '../refuse.ts';
import { FieldCheck } from '../server/check-fields.ts';
import { spendOwnQuota } from '../spend-quota.ts';
import { checkEndpoint, contractColumns, contractWarnings, signedOperations } from './contract-columns.ts';
import { keyWarnings, newApiKey, newSigningSecret, presentApiKey, presentSigningSecret } from './keys-and-secrets.ts';

/** Creates a merchant with its first API key and signing secret. Throws INVALID_REQUEST when the id is taken. */
export const createMerchant: Method<'createMerchant'> = async (core, request) => {
  const { merchantId: id, name, contract, apiKeyManagesWebhook: managesWebhook } = request;
  const columns = await contractColumns(core, contract);
  const createdAt = core.clock();
  const { row: apiKey, key } = newApiKey({ merchantId: id, managesWebhook }, createdAt);
  const { row: signingSecret, secret } = newSigningSecret(core.cipher, id, createdAt);
  const merchant = { allowOct: false, ...columns, id, name, createdAt };
  const created = await insertMerchant(core.database, merchant, apiKey, signingSecret);
  if (!created) throw invalidField('merchant_id', 'is taken');
  return { merchant: presentMerchant(created, core.clock()), apiKey: key, signingSecret: secret };
};

export const getMerchant: Method<'getMerchant'> = async (core, { merchantId }) => {
  const found = await readMerchant(core.database, merchantId);
  if (!found) throw noSuch('merchant');
  return { merchant: presentMerchant(found, core.clock()) };
};

/** Looks up a merchant's contract, for the merchant: who may read where notifications go is another question. */
export const getContract: Method<'getContract'> = async (core, { merchantId }) => {
  const merchant = await core.contracts.find(merchantId);
  if (!merchant) throw noSuch('merchant');
  return { contract: { ...presentContract(merchant), webhookUrl: '', internalUrl: '', processorAccount: '' } };
};

/** Lists merchants in the order of their ids. */
export const listMerchants: Method<'listMerchants'> = (core, request) =>
  readPage('merchants', request, {}, BY_MERCHANT_ID, {
    read: (_, after, limit) => listStored(core.reads, after, limit),
    present: (merchant) => presentMerchant(merchant, core.clock()),
  });

/** A merchant id: docs/interfaces.md, "Money, identifiers, time". */
const BY_MERCHANT_ID = {
  isKey: (text: string) => /^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(text),
  keyOf: ({ merchant }: MerchantWithCredentials) => merchant.id,
};

/** Replaces a merchant's name and contract. Holds keep their terms; deliveries to a moved endpoint are due at once. */
export const updateMerchant: Method<'updateMerchant'> = async (core, request) => {
  const { merchantId, name, contract, etag } = request;
  const columns = await contractColumns(core, contract);
  const expected = etag || undefined;
  const updated = await updateStored(core.database, merchantId, { ...columns, name }, core.clock(), { expected });
  if (updated === 'CHANGED') {
    throw new HoldfastError('PRECONDITION_FAILED', 'the merchant was changed since it was read; read it again');
  }
  if (updated === 'NOT_FOUND') throw noSuch('merchant');
  core.contracts.forget(merchantId);
  await hurryTo(core, merchantId, updated.moved);
  return { merchant: presentMerchant(updated, core.clock()) };
};

/** Sets where notifications go. What waits is due there now, and a pause that the old address caused ends. */
export const setWebhookUrl: Method<'setWebhookUrl'> = async (core, { merchantId, webhookUrl: given }, context) => {
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const webhookUrl = given || null;
  const fields = new FieldCheck();
  checkEndpoint(fields, 'webhook_url', webhookUrl);
  fields.refuse();
  const resume = ['webhook'] as const;
  const updated = await updateStored(core.database, merchantId, { webhookUrl }, core.clock(), { resume });
  if (updated === 'NOT_FOUND' || updated === 'CHANGED') throw noSuch('merchant');
  core.contracts.forget(merchantId);
  await hurryTo(core, merchantId, updated.moved);
  core.announce([endpointName({ merchantId, endpointId: 'webhook' })]);
  return { merchant: presentMerchant(updated, core.clock()) };
};

/** A merchant as operators see it: never a key or a secret. */
function presentMerchant({ merchant, apiKeys, signingSecrets }: MerchantWithCredentials, now: Date) {
  return {
    ...present(MerchantSchema, merchant),
    merchantId: merchant.id,
    contract: presentContract(merchant),
    apiKeys: apiKeys.map(presentApiKey),
    signingSecrets: signingSecrets.map(presentSigningSecret),
    warnings: [...contractWarnings(merchant), ...keyWarnings(apiKeys, now)],
    etag: String(merchant.changeNumber),
  };
}

/** A merchant's terms, and the destinations of its notifications. */
function presentContract(merchant: MerchantRow) {
  return {
    ...present(ContractSchema, merchant),
    holdPeriod: { seconds: BigInt(merchant.holdPeriodS) },
    limits: (merchant.limits ?? []).map(({ perOperation, perDay, ...limit }) => ({
      ...limit,
      perOperation: perOperation === undefined ? undefined : BigInt(perOperation),
      perDay: perDay === undefined ? undefined : BigInt(perDay),
    })),
    requireSignedOperations: signedOperations(merchant),
  };
}
