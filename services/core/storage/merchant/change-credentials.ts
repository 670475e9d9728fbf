import type { OrmDatabase } from '../database.ts';
import { changeMerchant } from './change-merchant.ts';
import { ApiKeyEntity, type ApiKeyRow, SigningSecretEntity, type SigningSecretRow } from './credential-rows.ts';

/** Which key or secret of which merchant. */
export type CredentialKey = Readonly<Pick<ApiKeyRow, 'id' | 'merchantId'>>;

/** Stores a new API key. */
export function addApiKey(database: OrmDatabase, key: ApiKeyRow): Promise<ApiKeyRow | 'NOT_FOUND'> {
  const detail = { apiKeyId: key.id, last4: key.last4, managesWebhook: key.managesWebhook };
  const action = { at: key.createdAt, action: 'api-key.create', target: key.merchantId, detail };
  return changeMerchant<ApiKeyRow>(database, action, async (em) => em.create(ApiKeyEntity, key));
}

/** Revokes an API key; one that was revoked before keeps its time. */
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

/** At most two secrets are live at a time: the one in use, and the one that replaces it. */
const MAX_LIVE_SECRETS = 2;

/** Stores a second signing secret. TOO_MANY = two are live. */
export function addSigningSecret(database: OrmDatabase, secret: SigningSecretRow) {
  const { merchantId } = secret;
  const detail = { signingSecretId: secret.id };
  const action = { at: secret.createdAt, action: 'signing-secret.add', target: merchantId, detail };
  return changeMerchant<SigningSecretRow, 'TOO_MANY'>(database, action, async (em) => {
    const live = await em.count(SigningSecretEntity, { merchantId, retiredAt: null });
    return live < MAX_LIVE_SECRETS ? em.create(SigningSecretEntity, secret) : 'TOO_MANY';
  });
}

/** Retires a signing secret; one that was retired before keeps its time. LAST = no other is live. */
export function retireSigningSecret(database: OrmDatabase, key: CredentialKey, at: Date) {
  const { id, merchantId } = key;
  const action = { at, action: 'signing-secret.retire', target: merchantId, detail: { signingSecretId: id } };
  return changeMerchant<SigningSecretRow, 'NOT_FOUND' | 'LAST'>(database, action, async (em) => {
    const secret = await em.findOne(SigningSecretEntity, { id, merchantId });
    if (!secret) return 'NOT_FOUND';
    if (secret.retiredAt) return secret;
    const live = await em.count(SigningSecretEntity, { merchantId, retiredAt: null });
    if (live === 1) return 'LAST';
    secret.retiredAt = at;
    return secret;
  });
}
