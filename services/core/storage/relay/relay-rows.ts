import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

export type RelayScheme = 'service-signature' | 'standard-webhooks' | 'hmac-sha256-body' | 'ed25519-body';

/** A sender of a merchant's, and how it signs (docs/relay.md, "Senders"). An empty text means none. */
export const RelaySenderEntity = defineEntity({
  name: 'RelaySender',
  tableName: 'relay_sender',
  properties: {
    /** UUIDv7. */
    id: p.uuid().primary(),
    merchantId: p.text(),
    name: p.text(),
    scheme: p.text().$type<RelayScheme>(),
    header: p.text(),
    encoding: p.text(),
    prefix: p.text(),
    timestamped: p.boolean(),
    idHeader: p.text(),
    idPointer: p.text(),
    typeHeader: p.text(),
    toleranceSeconds: p.integer(),
    internalTypes: p.array().columnType('text[]').$type<string[]>(),
    createdAt: p.datetime(3),
  },
});
export type RelaySenderRow = InferEntity<typeof RelaySenderEntity>;

/** A key of a sender: a secret, encrypted at rest, or a public key in PEM. */
export const RelayKeyEntity = defineEntity({
  name: 'RelayKey',
  tableName: 'relay_key',
  properties: {
    /** UUIDv7. */
    id: p.uuid().primary(),
    merchantId: p.text(),
    senderId: p.uuid(),
    ciphertext: p.blob().nullable().$type<Buffer>(),
    publicKey: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});
export type RelayKeyRow = InferEntity<typeof RelayKeyEntity>;

/** A sender with its keys, oldest first. */
export interface SenderWithKeys {
  readonly sender: RelaySenderRow;
  readonly keys: readonly RelayKeyRow[];
}
