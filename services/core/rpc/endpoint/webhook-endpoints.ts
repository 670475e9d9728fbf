import type { HandlerContext } from '@connectrpc/connect';
import { drawId } from '../../../../platform/draw-id.ts';
import type { EndpointHeaders, EndpointTypes } from '../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { type EndpointId, isOfContract, purposeOf, shownEndpointId } from '../../storage/delivery/delivery-row.ts';
import {
  deleteWebhookEndpoint as deleteStored,
  type EndpointSettings,
  insertWebhookEndpoint,
  MAX_ENDPOINTS,
  updateWebhookEndpoint as updateStored,
} from '../../storage/endpoint/change-webhook-endpoint.ts';
import { DEFAULT_TIMEOUT_S, sealHeaders } from '../../storage/endpoint/endpoint-terms.ts';
import { readMerchantEndpoints } from '../../storage/endpoint/webhook-endpoint-row.ts';
import type { Core, Method } from '../core.ts';
import { isMerchant } from '../delivery/deliveries.ts';
import { checkEndpoint, refuseGateway } from '../merchant/contract-columns.ts';
import { newSigningSecret } from '../merchant/keys-and-secrets.ts';
import { keptEndpointId } from '../present.ts';
import { invalidField, noSuch } from '../refuse.ts';
import { FieldCheck } from '../server/check-fields.ts';
import { spendOwnQuota } from '../spend-quota.ts';
import { faultOfHeader } from './endpoint-headers.ts';
import { hurryTo } from './endpoints.ts';
import { faultOfType } from './fault-of-type.ts';
import { presentEndpoints } from './present-endpoint.ts';

/** Lists a merchant's endpoints: the contract's that have an address, then the further ones, oldest first. */
export const listWebhookEndpoints: Method<'listWebhookEndpoints'> = async (core, { merchantId }) => {
  return { endpoints: await presented(core, merchantId) };
};

export const getWebhookEndpoint: Method<'getWebhookEndpoint'> = async (core, { merchantId, endpointId }) => ({
  endpoint: await presentedOne(core, merchantId, keptEndpointId(endpointId)),
});

/** Adds an endpoint; only this response ever contains its first secret. */
export const createWebhookEndpoint: Method<'createWebhookEndpoint'> = async (core, request, context) => {
  const { merchantId, url, description = '', timeoutSeconds = DEFAULT_TIMEOUT_S } = request;
  const id: EndpointId = `${request.purpose === 'internal' ? 'internal' : 'webhook'}-${drawId()}`;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  refuseInternal(context, id);
  await refuseFaults(core, id, request);
  const createdAt = core.clock();
  const { headersCiphertext = null } = sealed(core, id, request.headers);
  const settings = { url, types: keptTypes(request.types), description, headersCiphertext, timeoutS: timeoutSeconds };
  const { row, secret } = newSigningSecret(core.cipher, merchantId, createdAt);
  const inserted = await insertWebhookEndpoint(
    core.database,
    { merchantId, id, ...settings, createdAt },
    { ...row, endpointId: id },
  );
  refuseWords(inserted);
  core.contracts.forget(merchantId);
  return { endpoint: await presentedOne(core, merchantId, id), signingSecret: secret };
};

/** Changes the given settings. What waits is due at the new address now. */
export const updateWebhookEndpoint: Method<'updateWebhookEndpoint'> = async (core, request, context) => {
  const { merchantId, url, description, timeoutSeconds } = request;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const id = changeableId(request.endpointId);
  refuseInternal(context, id);
  await refuseFaults(core, id, request);
  const settings: Partial<EndpointSettings> = {
    ...(url !== undefined && { url }),
    ...(request.types && { types: keptTypes(request.types) }),
    ...(description !== undefined && { description }),
    ...(timeoutSeconds !== undefined && { timeoutS: timeoutSeconds }),
    ...sealed(core, id, request.headers),
  };
  const updated = await updateStored(core.database, { merchantId, endpointId: id }, settings, core.clock());
  refuseWords(updated);
  if (updated.moved) await hurryTo(core, merchantId, [id]);
  return { endpoint: await presentedOne(core, merchantId, id) };
};

/** Removes an endpoint. What waits for it is due at once, and ends as DEAD. */
export const deleteWebhookEndpoint: Method<'deleteWebhookEndpoint'> = async (core, request, context) => {
  const { merchantId } = request;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const id = changeableId(request.endpointId);
  refuseInternal(context, id);
  refuseWords(await deleteStored(core.database, { merchantId, endpointId: id }, core.clock()));
  core.contracts.forget(merchantId);
  await hurryTo(core, merchantId, [id]);
  return {};
};

async function presented(core: Core, merchantId: string) {
  const found = await readMerchantEndpoints(core.database, merchantId);
  if (!found) throw noSuch('merchant');
  return presentEndpoints(found, core.cipher);
}

async function presentedOne(core: Core, merchantId: string, id: EndpointId | undefined) {
  const shownId = id && shownEndpointId(id);
  const endpoint = (await presented(core, merchantId)).find(({ endpointId }) => endpointId === shownId);
  if (!endpoint) throw noSuch('endpoint');
  return endpoint;
}

/** The id of a further endpoint. Throws OPERATION_NOT_FOUND, and INVALID_REQUEST for one of the contract. */
function changeableId(endpointId: string): EndpointId {
  const id = keptEndpointId(endpointId);
  if (id === undefined) throw noSuch('endpoint');
  if (isOfContract(id)) {
    throw invalidField('endpoint_id', 'is an endpoint of the contract, whose address is changed there');
  }
  return id;
}

/** Internal endpoints may be in networks that merchants' endpoints may not be in. */
function refuseInternal(context: HandlerContext, id: EndpointId): void {
  if (purposeOf(id) === 'internal' && isMerchant(context)) {
    throw new HoldfastError('FORBIDDEN', 'only operators create, change and remove internal endpoints');
  }
}

/** The settings of a request that can be at fault. */
interface GivenSettings {
  readonly url?: string | undefined;
  readonly types?: EndpointTypes | undefined;
  readonly description?: string | undefined;
  readonly headers?: EndpointHeaders | undefined;
}

/** Throws INVALID_REQUEST with every fault. */
async function refuseFaults(core: Core, id: EndpointId, { url, types, description, headers }: GivenSettings) {
  const purpose = purposeOf(id);
  const fields = new FieldCheck();
  checkEndpoint(fields, 'url', url ?? null);
  fields.text('description', description);
  for (const type of types?.types ?? []) {
    const fault = faultOfType(type, purpose);
    if (fault !== undefined) fields.add('types', fault);
  }
  const given = headers?.headers ?? {};
  for (const [name, value] of Object.entries(given)) {
    const fault = faultOfHeader(name, value, Object.keys(given));
    if (fault !== undefined) fields.add('headers', `${name} ${fault}`);
  }
  fields.refuse();
  if (purpose === 'internal' && url) await refuseGateway('url', url, core.settings);
}

/** Null = all. */
function keptTypes(types: EndpointTypes | undefined): string[] | null {
  return types && types.types.length > 0 ? types.types.toSorted() : null;
}

function sealed(core: Core, id: EndpointId, given: EndpointHeaders | undefined) {
  if (!given) return {};
  const headers = Object.entries(given.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (headers.length === 0) return { headersCiphertext: null };
  return { headersCiphertext: sealHeaders(core.cipher, id, Object.fromEntries(headers)) };
}

function refuseWords<T extends object>(changed: T | 'NOT_FOUND' | 'TOO_MANY' | 'SAME'): asserts changed is T {
  if (changed === 'NOT_FOUND') throw noSuch('endpoint');
  if (changed === 'TOO_MANY') {
    throw new HoldfastError('INVALID_REQUEST', `the merchant has ${MAX_ENDPOINTS} endpoints: remove one first`);
  }
  if (changed === 'SAME') throw invalidField('url', 'is that of another endpoint, which gets the same types');
}
