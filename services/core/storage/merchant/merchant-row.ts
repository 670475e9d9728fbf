import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { type Database, readRow, sql } from '../database.ts';
import type { Limit } from '../submission/spend-limits.ts';

export type RelayVerification = 'service-signature' | 'either' | 'standard-webhooks';

/** A merchant and its contract (docs/merchants.md, "Contract of a merchant"). Only operators set its URLs. */
export const MerchantEntity = defineEntity({
  name: 'Merchant',
  tableName: 'merchant',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    allowMultipleCaptures: p.boolean(),
    /** Duration of a hold, seconds, 1 … 2 592 000. */
    holdPeriodS: p.integer(),
    currencies: p.array().columnType('text[]').$type<string[]>(),
    terminals: p.array().columnType('text[]').$type<string[]>(),
    notifyHolds: p.boolean(),
    /** It may pay out. The code gives new merchants false. */
    allowOct: p.boolean().default(true),
    /** How much its operations may move; null = there is no limit. */
    limits: p.json().nullable().$type<readonly Limit[]>(),
    requireSignedCaptures: p.boolean(),
    requireSignedOcts: p.boolean().default(false),
    requireSignedRefunds: p.boolean().default(false),
    /** Verifies the signatures of all these operations: Ed25519 public key, SubjectPublicKeyInfo in PEM. */
    capturePublicKey: p.text().nullable(),
    webhookUrl: p.text().nullable(),
    internalUrl: p.text().nullable(),
    /** The card processor, a name of PROCESSORS, and the merchant's account there. Empty = the default one. */
    processor: p.text().default(''),
    processorAccount: p.text().default(''),
    /** Hours before the end of a hold at which the merchant is notified; null = never. */
    notifyExpiringHours: p.integer().nullable(),
    /** References, users and terminals may look like card numbers. */
    allowCardLikeReferences: p.boolean().default(false),
    /** It has further endpoints besides webhookUrl and internalUrl; nothing reads theirs while this is false. */
    hasEndpoints: p.boolean().default(false),
    /** What the relay demands of notifications under the merchant's own secrets. */
    relayVerification: p.text().default('service-signature').$type<RelayVerification>(),
    createdAt: p.datetime(3),
    /** Grows with every change of the merchant, its keys or its secrets: the cursor of the credentials feed. */
    changeNumber: p.bigint('bigint'),
  },
});
export type MerchantRow = InferEntity<typeof MerchantEntity>;

export function findMerchant({ query }: Pick<Database, 'query'>, id: string): Promise<MerchantRow | undefined> {
  return readRow(query, FIND, [id]);
}

const FIND = sql('find-merchant')`select * from merchant where id = $1`;
