import assert from 'node:assert/strict';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { ApiKeyEntity, type ApiKeyRow } from '../../storage/api-key.ts';
import type { MerchantRow } from '../../storage/merchant.ts';
import { SigningSecretEntity, type SigningSecretRow } from '../../storage/signing-secret.ts';

/** A merchant as operators see it: never a key or a secret. */
export async function presentMerchant(em: SqlEntityManager, merchant: MerchantRow): Promise<Presented> {
  const [presented] = await presentMerchants(em, [merchant]);
  assert(presented);
  return presented;
}

/** Merchants as operators see them, in their order; however many, their keys and secrets are two queries. */
export async function presentMerchants(em: SqlEntityManager, merchants: readonly MerchantRow[]): Promise<Presented[]> {
  const theirs = { merchantId: { $in: merchants.map(({ id }) => id) } };
  const oldest = { orderBy: { id: 'asc' } } as const;
  const keys = Map.groupBy(await em.find(ApiKeyEntity, theirs, oldest), ({ merchantId }) => merchantId);
  const secrets = Map.groupBy(await em.find(SigningSecretEntity, theirs, oldest), ({ merchantId }) => merchantId);
  return merchants.map((merchant) => present(merchant, keys.get(merchant.id) ?? [], secrets.get(merchant.id) ?? []));
}

type Presented = ReturnType<typeof present>;

function present(merchant: MerchantRow, apiKeys: readonly ApiKeyRow[], signingSecrets: readonly SigningSecretRow[]) {
  return {
    merchantId: merchant.id,
    name: merchant.name,
    contract: {
      allowMultipleCaptures: merchant.allowMultipleCaptures,
      holdPeriod: { seconds: BigInt(merchant.holdPeriodS) },
      currencies: merchant.currencies,
      terminals: merchant.terminals,
      notifyHolds: merchant.notifyHolds,
      requireSignedCaptures: merchant.requireSignedCaptures,
      capturePublicKey: merchant.capturePublicKey ?? '',
      webhookUrl: merchant.webhookUrl ?? '',
      internalUrl: merchant.internalUrl ?? '',
    },
    apiKeys: apiKeys.map(presentApiKey),
    signingSecrets: signingSecrets.map(presentSigningSecret),
    createdAt: timestampFromDate(merchant.createdAt),
  };
}

/** An API key without the key. */
export function presentApiKey(key: ApiKeyRow) {
  return {
    apiKeyId: key.id,
    last4: key.last4,
    createdAt: timestampFromDate(key.createdAt),
    ...(key.revokedAt && { revokedAt: timestampFromDate(key.revokedAt) }),
  };
}

/** A signing secret without the secret. */
export function presentSigningSecret(secret: SigningSecretRow) {
  return {
    signingSecretId: secret.id,
    createdAt: timestampFromDate(secret.createdAt),
    ...(secret.retiredAt && { retiredAt: timestampFromDate(secret.retiredAt) }),
  };
}
