import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Query, Statement } from '../database.ts';

/** An API key of a merchant; only its SHA-256 is stored. */
export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    merchantId: p.text(),
    hash: p.blob().unique().$type<Buffer>(),
    last4: p.text(),
    /** Whether it may manage the webhook besides making payments. */
    managesWebhook: p.boolean().default(false),
    createdAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'api_key_merchant', properties: ['merchantId'] }],
});
export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;

/** A live API key, as far as a call in its name depends on it. */
export interface LiveApiKey {
  readonly id: string;
  readonly merchantId: string;
  readonly managesWebhook: boolean;
}

/** Finds a live API key by its SHA-256. */
export async function findLiveApiKey(query: Query, hash: Buffer): Promise<LiveApiKey | undefined> {
  return (await query<LiveApiKey>(FIND_LIVE_KEY, [hash]))[0];
}

const FIND_LIVE_KEY: Statement = {
  name: 'find-live-api-key',
  text: `select id, merchant_id as "merchantId", manages_webhook as "managesWebhook" from api_key
    where hash = $1 and revoked_at is null`,
};
