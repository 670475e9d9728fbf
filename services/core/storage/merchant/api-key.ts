import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** An API key of a merchant; only its SHA-256 is stored. */
export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    merchantId: p.text(),
    hash: p.blob().unique().$type<Buffer>(),
    last4: p.text(),
    createdAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'api_key_merchant', properties: ['merchantId'] }],
});
export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;
