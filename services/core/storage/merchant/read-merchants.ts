import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { OrmDatabase } from '../database.ts';
import { entityManager } from '../orm.ts';
import { ApiKeyEntity, type ApiKeyRow, SigningSecretEntity, type SigningSecretRow } from './credential-rows.ts';
import { MerchantEntity, type MerchantRow } from './merchant-row.ts';

/** A merchant with all its API keys and signing secrets, revoked and retired ones included, oldest first. */
export interface MerchantWithCredentials {
  readonly merchant: MerchantRow;
  readonly apiKeys: readonly ApiKeyRow[];
  readonly signingSecrets: readonly SigningSecretRow[];
}

export async function readMerchant(database: OrmDatabase, id: string): Promise<MerchantWithCredentials | undefined> {
  const em = entityManager(database);
  const merchants = await em.find(MerchantEntity, { id });
  return (await withCredentials(em, merchants))[0];
}

/** Lists merchants in the order of their ids, those after `after`; undefined = from the first. */
export async function listMerchants(database: OrmDatabase, after: string | undefined, limit: number) {
  const em = entityManager(database);
  const where = after === undefined ? {} : { id: { $gt: after } };
  return withCredentials(em, await em.find(MerchantEntity, where, { orderBy: { id: 'asc' }, limit }));
}

/** Adds keys and secrets to merchants, in two queries however many merchants there are. */
export async function withCredentials(
  em: SqlEntityManager,
  merchants: readonly MerchantRow[],
): Promise<MerchantWithCredentials[]> {
  const theirs = { merchantId: { $in: merchants.map(({ id }) => id) } };
  const oldest = { orderBy: { id: 'asc' } } as const;
  const keys = Map.groupBy(await em.find(ApiKeyEntity, theirs, oldest), ({ merchantId }) => merchantId);
  const secrets = Map.groupBy(await em.find(SigningSecretEntity, theirs, oldest), ({ merchantId }) => merchantId);
  return merchants.map((merchant) => ({
    merchant,
    apiKeys: keys.get(merchant.id) ?? [],
    signingSecrets: secrets.get(merchant.id) ?? [],
  }));
}
