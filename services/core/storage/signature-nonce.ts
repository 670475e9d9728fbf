import { defineEntity, p } from '@mikro-orm/core';

/** A nonce of a signed capture, kept as long as its signature could be valid. */
export const SignatureNonceEntity = defineEntity({
  name: 'SignatureNonce',
  tableName: 'signature_nonce',
  properties: {
    merchantId: p.text().primary(),
    nonce: p.text().primary(),
    expiresAt: p.datetime(3),
  },
  indexes: [{ name: 'signature_nonce_end', properties: ['expiresAt'] }],
});
