import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OrmDatabase } from '../database.ts';
import type { EndpointId } from '../delivery/delivery-row.ts';
import { SigningSecretEntity, type SigningSecretRow } from '../merchant/credential-rows.ts';
import { MerchantEntity, type MerchantRow } from '../merchant/merchant-row.ts';
import { entityManager } from '../orm.ts';
import { EndpointEntity, type EndpointRow } from './endpoint-row.ts';

/** An endpoint of a merchant besides the two of its contract. It is deleted when it is removed. */
export const WebhookEndpointEntity = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    merchantId: p.text().primary(),
    /** Its purpose and a UUIDv7: `webhook-…` or `internal-…`. */
    id: p.text().primary().$type<EndpointId>(),
    url: p.text(),
    /** Sorted; null = all. */
    types: p.array().columnType('text[]').nullable().$type<string[]>(),
    /** '' = none. */
    description: p.text(),
    /** The headers of its owner (sealHeaders()); null = none. */
    headersCiphertext: p.blob().nullable().$type<Buffer>(),
    timeoutS: p.integer(),
    createdAt: p.datetime(3),
  },
});
export type WebhookEndpointRow = InferEntity<typeof WebhookEndpointEntity>;

/** A signing secret of a further endpoint, like those of merchants. */
export const EndpointSecretEntity = defineEntity({
  name: 'EndpointSecret',
  tableName: 'endpoint_secret',
  properties: {
    id: p.uuid().primary(),
    merchantId: p.text(),
    endpointId: p.text().$type<EndpointId>(),
    hash: p.blob().unique().$type<Buffer>(),
    ciphertext: p.blob().$type<Buffer>(),
    createdAt: p.datetime(3),
    retiredAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3).nullable(),
    expiryToldAt: p.datetime(3).nullable(),
  },
});
export type EndpointSecretRow = InferEntity<typeof EndpointSecretEntity>;

/** A merchant with all its endpoints, what is known of their health, and their secrets, oldest first. */
export interface MerchantEndpoints {
  readonly merchant: MerchantRow;
  readonly endpoints: readonly WebhookEndpointRow[];
  readonly states: readonly EndpointRow[];
  readonly merchantSecrets: readonly SigningSecretRow[];
  readonly endpointSecrets: readonly EndpointSecretRow[];
}

/** Reads a merchant's endpoints, oldest first; undefined = there is no such merchant. */
export async function readMerchantEndpoints(
  database: OrmDatabase,
  merchantId: string,
): Promise<MerchantEndpoints | undefined> {
  const em = entityManager(database);
  const merchant = await em.findOne(MerchantEntity, { id: merchantId });
  if (!merchant) return undefined;
  // Ids begin with the purpose, which says nothing about the age.
  const endpoints = await em.find(WebhookEndpointEntity, { merchantId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const states = await em.find(EndpointEntity, { merchantId });
  const oldest = { orderBy: { id: 'asc' } } as const;
  const merchantSecrets = await em.find(SigningSecretEntity, { merchantId }, oldest);
  const endpointSecrets = await em.find(EndpointSecretEntity, { merchantId }, oldest);
  return { merchant, endpoints, states, merchantSecrets, endpointSecrets };
}
