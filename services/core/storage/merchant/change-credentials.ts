import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { OrmDatabase } from '../database.ts';
import { changeMerchant } from './change-merchant.ts';
import { ApiKeyEntity, type ApiKeyRow, SigningSecretEntity, type SigningSecretRow } from './credential-rows.ts';

/** Names a key or secret of a merchant. */
export type CredentialKey = Readonly<Pick<ApiKeyRow, 'id' | 'merchantId'>>;

/** Stores a new API key. */
export function addApiKey(database: OrmDatabase, key: ApiKeyRow): Promise<ApiKeyRow | 'NOT_FOUND'> {
  const { scopes, expiresAt, allowedCidrs } = key;
  const terms = Object.entries({ scopes, expiresAt, allowedCidrs }).filter(([, value]) => value !== null);
  const { id: apiKeyId, last4, managesWebhook } = key;
  const detail = { apiKeyId, last4, managesWebhook, ...Object.fromEntries(terms) };
  const action = { at: key.createdAt, action: 'api-key.create', target: key.merchantId, detail };
  return changeMerchant<ApiKeyRow>(database, action, async (em) => {
    await forgetEnded(em, key.merchantId, 'api_key', 'revoked_at');
    return em.create(ApiKeyEntity, key);
  });
}

/** Greatest number of a merchant's ended keys, and of its ended secrets, that are kept. It may rotate them for ever. */
export const MOST_ENDED = 100;

async function forgetEnded(em: SqlEntityManager, merchantId: string, table: string, end: string): Promise<void> {
  const ended = `select id from ${table} where merchant_id = ? and ${end} is not null order by id desc`;
  await em.execute(`delete from ${table} where id in (${ended} offset ${MOST_ENDED})`, [merchantId]);
}

/** Revokes an API key. A key revoked before keeps its time. */
export function revokeApiKey(database: OrmDatabase, key: CredentialKey, at: Date): Promise<ApiKeyRow | 'NOT_FOUND'> {
  const detail = { apiKeyId: key.id, last4: '' };
  const action = { at, action: 'api-key.revoke', target: key.merchantId, detail };
  return changeMerchant<ApiKeyRow, 'NOT_FOUND'>(database, action, async (em) => {
    const found = await em.findOne(ApiKeyEntity, { ...key });
    if (!found) return 'NOT_FOUND';
    found.revokedAt ??= at;
    detail.last4 = found.last4;
    return found;
  });
}

/** At most two secrets are live at a time: the present one, and its successor. */
export const MAX_LIVE_SECRETS = 2;

/** Stores a second signing secret. The one before expires at `olderExpiresAt`. TOO_MANY = two are live. */
export function addSigningSecret(database: OrmDatabase, secret: SigningSecretRow, olderExpiresAt?: Date) {
  const { merchantId } = secret;
  const detail = { signingSecretId: secret.id, ...(olderExpiresAt && { olderExpiresAt }) };
  const action = { at: secret.createdAt, action: 'signing-secret.add', target: merchantId, detail };
  return changeMerchant<SigningSecretRow, 'TOO_MANY'>(database, action, async (em) => {
    const live = await em.find(SigningSecretEntity, { merchantId, retiredAt: null });
    if (live.length >= MAX_LIVE_SECRETS) return 'TOO_MANY';
    for (const older of live) older.expiresAt = olderExpiresAt ?? null;
    await forgetEnded(em, merchantId, 'signing_secret', 'retired_at');
    return em.create(SigningSecretEntity, secret);
  });
}

/** Retires a signing secret. A secret retired before keeps its time. LAST = no other is live and stays so. */
export function retireSigningSecret(database: OrmDatabase, key: CredentialKey, at: Date) {
  const { id, merchantId } = key;
  const action = { at, action: 'signing-secret.retire', target: merchantId, detail: { signingSecretId: id } };
  return changeMerchant<SigningSecretRow, 'NOT_FOUND' | 'LAST'>(database, action, async (em) => {
    const secret = await em.findOne(SigningSecretEntity, { id, merchantId });
    if (!secret) return 'NOT_FOUND';
    if (secret.retiredAt) return secret;
    const staying = { merchantId, id: { $ne: id }, retiredAt: null, expiresAt: null };
    if ((await em.count(SigningSecretEntity, staying)) === 0) return 'LAST';
    secret.retiredAt = at;
    return secret;
  });
}
