import { randomBytes } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { faultOfCidr } from '../../../../platform/cidr.ts';
import { drawId } from '../../../../platform/draw-id.ts';
import {
  ApiKeySchema,
  type CreateApiKeyRequest,
  SigningSecretSchema,
} from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { type Cipher, hashOf } from '../../storage/cipher.ts';
import { type EndpointId, isOfContract } from '../../storage/delivery/delivery-row.ts';
import { addEndpointSecret, retireEndpointSecret } from '../../storage/endpoint/change-webhook-endpoint.ts';
import { secretContext } from '../../storage/endpoint/endpoint-terms.ts';
import {
  addApiKey,
  addSigningSecret as addStoredSecret,
  retireSigningSecret as retireStoredSecret,
  revokeApiKey as revokeStoredKey,
} from '../../storage/merchant/change-credentials.ts';
import type { ApiKeyRow, SigningSecretRow } from '../../storage/merchant/credential-rows.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { keptEndpointId, present } from '../present.ts';
import { invalidField, noSuch } from '../refuse.ts';
import { FieldCheck } from '../server/check-fields.ts';
import { spendOwnQuota } from '../spend-quota.ts';

/** Creates an API key; only this response ever contains it. */
export const createApiKey: Method<'createApiKey'> = async (core, request) => {
  const now = core.clock();
  const { row, key } = newApiKey({ merchantId: request.merchantId, ...keyTerms(request, now) }, now);
  const added = await addApiKey(core.database, row);
  if (added === 'NOT_FOUND') throw noSuch('merchant');
  return { apiKey: presentApiKey(added), key };
};

/** Revokes an API key; gateways reject it within seconds. */
export const revokeApiKey: Method<'revokeApiKey'> = async (core, { apiKeyId: id, merchantId }) => {
  const revoked = isUuid(id) && (await revokeStoredKey(core.database, { id, merchantId }, core.clock()));
  if (!revoked || revoked === 'NOT_FOUND') throw noSuch('API key');
  return {};
};

/**
 * Adds the second signing secret. The older one makes the legacy signature until it is retired, by somebody or at its
 * time.
 */
export const addSigningSecret: Method<'addSigningSecret'> = async (core, request, context) => {
  const { merchantId, endpointId } = request;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const now = core.clock();
  const olderExpiresAt = request.olderExpiresAt && timestampDate(request.olderExpiresAt);
  if (olderExpiresAt && (olderExpiresAt <= now || olderExpiresAt.getTime() > now.getTime() + MOST_OVERLAP_MS)) {
    throw invalidField('older_expires_at', 'must be in the future, at most 90 days ahead');
  }
  const { row, secret } = newSigningSecret(core.cipher, merchantId, now);
  const id = furtherId(endpointId);
  const added = id
    ? await addEndpointSecret(core.database, { ...row, endpointId: id }, olderExpiresAt)
    : await addStoredSecret(core.database, row, olderExpiresAt);
  if (added === 'NOT_FOUND') throw noSuch(id ? 'endpoint' : 'merchant');
  if (added === 'TOO_MANY')
    throw new HoldfastError('INVALID_REQUEST', 'two signing secrets are live: retire one first');
  return { signingSecret: presentSigningSecret(added), secret };
};

const MOST_OVERLAP_MS = 90 * 86_400_000;

/** Retires a signing secret; gateways reject it within seconds. The last live one cannot be retired. */
export const retireSigningSecret: Method<'retireSigningSecret'> = async (core, request, context) => {
  const { signingSecretId: id, merchantId } = request;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const endpointId = furtherId(request.endpointId);
  const retire = () =>
    endpointId
      ? retireEndpointSecret(core.database, { id, merchantId, endpointId }, core.clock())
      : retireStoredSecret(core.database, { id, merchantId }, core.clock());
  const retired = isUuid(id) && (await retire());
  if (!retired || retired === 'NOT_FOUND') throw noSuch('signing secret');
  if (retired === 'LAST')
    throw invalidField('signing_secret_id', 'is the last live secret that does not expire; add another first');
  return {};
};

/** The further endpoint whose secrets are meant; undefined = the merchant's are. Throws OPERATION_NOT_FOUND. */
function furtherId(endpointId: string): EndpointId | undefined {
  if (endpointId === '') return undefined;
  const id = keptEndpointId(endpointId);
  if (id === undefined) throw noSuch('endpoint');
  return isOfContract(id) ? undefined : id;
}

/** What a new API key may do. Throws INVALID_REQUEST. */
function keyTerms({ managesWebhook, scopes, expiresAt, allowedCidrs }: CreateApiKeyRequest, now: Date): KeyTerms {
  const fields = new FieldCheck();
  const end = expiresAt ? timestampDate(expiresAt) : null;
  if (end && end <= now) fields.add('expires_at', 'must be in the future');
  const fault = allowedCidrs.map(faultOfCidr).find((found) => found !== undefined);
  if (fault !== undefined) fields.add('allowed_cidrs', fault);
  fields.refuse();
  return {
    managesWebhook: managesWebhook || scopes.includes('webhook'),
    scopes: scopes.length > 0 ? scopes.filter((scope) => scope !== 'webhook') : null,
    expiresAt: end,
    allowedCidrs: allowedCidrs.length > 0 ? allowedCidrs : null,
  };
}

type KeyTerms = Pick<ApiKeyRow, 'managesWebhook' | 'scopes' | 'expiresAt' | 'allowedCidrs'>;

/** The terms of a key that may do everything at any time and from anywhere. */
const UNRESTRICTED = { scopes: null, expiresAt: null, allowedCidrs: null, lastUsedAt: null } as const;

/** Makes an API key of 256 random bits; its row has only the hash. */
export function newApiKey(
  given: Pick<ApiKeyRow, 'merchantId' | 'managesWebhook'> & Partial<KeyTerms>,
  createdAt: Date,
): { row: ApiKeyRow; key: string } {
  const terms = { ...UNRESTRICTED, ...given };
  const key = `hf_${randomBytes(32).toString('base64url')}`;
  return { row: { id: drawId(), ...terms, hash: hashOf(key), last4: key.slice(-4), createdAt, revokedAt: null }, key };
}

/** Makes a signing secret of 256 random bits; its row has it encrypted, and a hash that is unique across merchants. */
export function newSigningSecret(cipher: Cipher, merchantId: string, createdAt: Date) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const id = drawId();
  const ciphertext = cipher.seal(secret, secretContext(id));
  const live = { retiredAt: null, expiresAt: null, expiryToldAt: null };
  return { row: { id, merchantId, hash: hashOf(secret), ciphertext, createdAt, ...live }, secret };
}

/** An API key without the key. */
export function presentApiKey(key: ApiKeyRow) {
  const { id: apiKeyId, scopes, managesWebhook, allowedCidrs } = key;
  const all = [...(scopes ?? PAYMENT_SCOPES), ...(managesWebhook ? ['webhook'] : [])];
  return present(ApiKeySchema, key, { apiKeyId, scopes: all, allowedCidrs: allowedCidrs ?? [] });
}

/** All scopes but `webhook`. */
const PAYMENT_SCOPES = ['read', 'hold', 'capture', 'release', 'refund', 'oct'];

/** Time before the end of an API key from which operators are warned. */
const WARNED_MS = 14 * 86_400_000;

/** Warnings of live API keys that expire soon. */
export function keyWarnings(keys: readonly ApiKeyRow[], now: Date): { field: string; description: string }[] {
  return keys.flatMap(({ last4, revokedAt, expiresAt }) => {
    const leftMs = expiresAt ? expiresAt.getTime() - now.getTime() : Number.POSITIVE_INFINITY;
    if (revokedAt || !expiresAt || leftMs <= 0 || leftMs > WARNED_MS) return [];
    return [
      { field: 'api_keys', description: `the API key that ends in ${last4} expires at ${expiresAt.toISOString()}` },
    ];
  });
}

/** A signing secret without the secret. */
export function presentSigningSecret(secret: Omit<SigningSecretRow, symbol>) {
  return present(SigningSecretSchema, secret, { signingSecretId: secret.id });
}
