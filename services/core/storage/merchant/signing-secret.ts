import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A signing secret: encrypted at rest, and its hash, so that no two merchants ever share one. */
export const SigningSecretEntity = defineEntity({
  name: 'SigningSecret',
  tableName: 'signing_secret',
  properties: {
    id: p.uuid().primary(),
    merchantId: p.text(),
    hash: p.blob().unique().$type<Buffer>(),
    ciphertext: p.blob().$type<Buffer>(),
    createdAt: p.datetime(3),
    retiredAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'signing_secret_merchant', properties: ['merchantId'] }],
});
export type SigningSecretRow = InferEntity<typeof SigningSecretEntity>;
