import { isDeepStrictEqual } from 'node:util';
import type { OrmDatabase } from '../database.ts';
import { purposeOf } from '../delivery/delivery-row.ts';
import { MAX_LIVE_SECRETS, MOST_ENDED } from '../merchant/change-credentials.ts';
import { changeMerchant, endOwnPauses } from '../merchant/change-merchant.ts';
import type { MerchantRow } from '../merchant/merchant-row.ts';
import { EndpointEntity, type EndpointKey, endpointName } from './endpoint-row.ts';
import {
  EndpointSecretEntity,
  type EndpointSecretRow,
  WebhookEndpointEntity,
  type WebhookEndpointRow,
} from './webhook-endpoint-row.ts';

/** Greatest number of a merchant's further endpoints. */
export const MAX_ENDPOINTS = 10;

/** The settings of an endpoint that can be changed. */
export type EndpointSettings = Pick<
  WebhookEndpointRow,
  'url' | 'types' | 'description' | 'headersCiphertext' | 'timeoutS'
>;

/** Stores an endpoint with its first secret. TOO_MANY = the merchant has MAX_ENDPOINTS; SAME = one is the same. */
export function insertWebhookEndpoint(database: OrmDatabase, row: WebhookEndpointRow, secret: EndpointSecretRow) {
  const { merchantId, id: endpointId, createdAt: at } = row;
  const detail = { endpoint: endpointName({ merchantId, endpointId }), after: shown(row), signingSecretId: secret.id };
  const action = { at, action: 'webhook-endpoint.create', target: merchantId, detail };
  return changeMerchant<WebhookEndpointRow, 'TOO_MANY' | 'SAME'>(database, action, async (em, merchant) => {
    const others = await em.find(WebhookEndpointEntity, { merchantId });
    if (others.length >= MAX_ENDPOINTS) return 'TOO_MANY';
    if (isThere(row, others, merchant)) return 'SAME';
    merchant.hasEndpoints = true;
    em.create(EndpointSecretEntity, secret);
    return em.create(WebhookEndpointEntity, row);
  });
}

/** A changed endpoint, and whether its address is another one. */
interface ChangedEndpoint {
  readonly moved: boolean;
}

/** Changes settings of an endpoint. A new address ends a pause that the old one has caused. SAME as above. */
export function updateWebhookEndpoint(
  database: OrmDatabase,
  { merchantId, endpointId: id }: EndpointKey,
  settings: Partial<EndpointSettings>,
  at: Date,
) {
  const detail: Record<string, unknown> = { endpoint: endpointName({ merchantId, endpointId: id }) };
  const action = { at, action: 'webhook-endpoint.update', target: merchantId, detail };
  return changeMerchant<ChangedEndpoint, 'NOT_FOUND' | 'SAME'>(database, action, async (em, merchant) => {
    const all = await em.find(WebhookEndpointEntity, { merchantId });
    const endpoint = all.find((each) => each.id === id);
    if (!endpoint) return 'NOT_FOUND';
    const before = shown(endpoint);
    const moved = settings.url !== undefined && settings.url !== endpoint.url;
    const others = all.filter((each) => each !== endpoint);
    if (isThere({ ...endpoint, ...settings }, others, merchant)) return 'SAME';
    if (moved) await endOwnPauses(em, merchantId, [id], at);
    em.assign(endpoint, settings);
    Object.assign(detail, {
      before,
      after: shown(endpoint),
      ...('headersCiphertext' in settings && { headers: 'SET' }),
    });
    return { moved };
  });
}

/** Removes an endpoint with its secrets and its state; its deliveries stay. */
export function deleteWebhookEndpoint(database: OrmDatabase, key: EndpointKey, at: Date) {
  const { merchantId, endpointId: id } = key;
  const detail: Record<string, unknown> = { endpoint: endpointName(key) };
  const action = { at, action: 'webhook-endpoint.delete', target: merchantId, detail };
  return changeMerchant<object, 'NOT_FOUND'>(database, action, async (em, merchant) => {
    const all = await em.find(WebhookEndpointEntity, { merchantId });
    const endpoint = all.find((each) => each.id === id);
    if (!endpoint) return 'NOT_FOUND';
    Object.assign(detail, { before: shown(endpoint) });
    merchant.hasEndpoints = all.length > 1;
    em.remove(endpoint);
    await em.nativeDelete(EndpointSecretEntity, { merchantId, endpointId: id });
    await em.nativeDelete(EndpointEntity, { merchantId, endpointId: id });
    return {};
  });
}

/** Stores a second secret of an endpoint. The one before expires at `olderExpiresAt`. TOO_MANY = two are live. */
export function addEndpointSecret(database: OrmDatabase, secret: EndpointSecretRow, olderExpiresAt?: Date) {
  const { merchantId, endpointId } = secret;
  const added = { endpoint: endpointName(secret), signingSecretId: secret.id };
  const detail = { ...added, ...(olderExpiresAt && { olderExpiresAt }) };
  const action = { at: secret.createdAt, action: 'signing-secret.add', target: merchantId, detail };
  return changeMerchant<EndpointSecretRow, 'NOT_FOUND' | 'TOO_MANY'>(database, action, async (em) => {
    if ((await em.count(WebhookEndpointEntity, { merchantId, id: endpointId })) === 0) return 'NOT_FOUND';
    const live = await em.find(EndpointSecretEntity, { merchantId, endpointId, retiredAt: null });
    if (live.length >= MAX_LIVE_SECRETS) return 'TOO_MANY';
    for (const older of live) older.expiresAt = olderExpiresAt ?? null;
    const retired = await em.find(
      EndpointSecretEntity,
      { merchantId, endpointId, retiredAt: { $ne: null } },
      { orderBy: { id: 'desc' }, offset: MOST_ENDED },
    );
    for (const old of retired) em.remove(old);
    return em.create(EndpointSecretEntity, secret);
  });
}

/** Retires a secret of an endpoint. One retired before keeps its time. LAST = no other is live and stays so. */
export function retireEndpointSecret(database: OrmDatabase, key: EndpointKey & { readonly id: string }, at: Date) {
  const { id, merchantId, endpointId } = key;
  const detail = { endpoint: endpointName(key), signingSecretId: id };
  const action = { at, action: 'signing-secret.retire', target: merchantId, detail };
  return changeMerchant<EndpointSecretRow, 'NOT_FOUND' | 'LAST'>(database, action, async (em) => {
    const secret = await em.findOne(EndpointSecretEntity, { id, merchantId, endpointId });
    if (!secret) return 'NOT_FOUND';
    if (secret.retiredAt) return secret;
    const staying = { merchantId, endpointId, id: { $ne: id }, retiredAt: null, expiresAt: null };
    if ((await em.count(EndpointSecretEntity, staying)) === 0) return 'LAST';
    secret.retiredAt = at;
    return secret;
  });
}

/** Returns whether another endpoint of the merchant gets the same at the same address. */
function isThere(
  { id, url, types }: Pick<WebhookEndpointRow, 'id' | 'url' | 'types'>,
  others: readonly WebhookEndpointRow[],
  { webhookUrl, internalUrl }: MerchantRow,
): boolean {
  const ofContract = purposeOf(id) === 'internal' ? internalUrl : webhookUrl;
  const isSame = (other: WebhookEndpointRow) =>
    purposeOf(other.id) === purposeOf(id) && other.url === url && isDeepStrictEqual(other.types ?? null, types ?? null);
  return (url === ofContract && (types ?? null) === null) || others.some(isSame);
}

/** An endpoint as the audit log shows it: the values of headers never. */
function shown({ url, types, description, timeoutS, headersCiphertext }: EndpointSettings): object {
  return { url, types: types ?? null, description, timeoutS, hasHeaders: headersCiphertext != null };
}
