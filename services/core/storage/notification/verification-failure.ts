import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { type OrmDatabase, type Query, sql } from '../database.ts';
import type { NotificationKind } from '../delivery/delivery-row.ts';
import { entityManager } from '../orm.ts';

/** A notification that the relay could not verify; neither its body nor its signature. Only the newest are kept. */
export const VerificationFailureEntity = defineEntity({
  name: 'VerificationFailure',
  tableName: 'verification_failure',
  properties: {
    /** UUIDv7. */
    id: p.uuid().primary(),
    failedAt: p.datetime(3),
    reason: p.text(),
    kind: p.text().$type<NotificationKind>(),
    statusInfo: p.text(),
    /** Not proven; may not exist. */
    claimedMerchantId: p.text(),
    address: p.text(),
    bodyBytes: p.integer(),
    bodySha256: p.blob().$type<Buffer>(),
    signatureSha256Prefix: p.text(),
    /** What had to be signed (FailureExplanation); null = nobody could be told. */
    explain: p.json().nullable().$type<Explained>(),
  },
});
/** As the contract has it. */
export interface Explained {
  readonly rule: string;
  readonly mistake: string;
  readonly signedBegins: string;
  readonly signedBytes: number;
  readonly keyIds: string[];
}

export type VerificationFailureRow = InferEntity<typeof VerificationFailureEntity>;

/** Selects verification failures. */
export type VerificationFailureFilter = Partial<
  Pick<VerificationFailureRow, 'claimedMerchantId' | 'reason' | 'kind' | 'statusInfo'>
>;

/** Lists failures, newest first, those before the id `after`; undefined = from the newest. */
export function listVerificationFailures(
  database: OrmDatabase,
  filter: VerificationFailureFilter,
  after: string | undefined,
  limit: number,
): Promise<VerificationFailureRow[]> {
  const where = { ...filter, ...(after !== undefined && { id: { $lt: after } }) };
  return entityManager(database).find(VerificationFailureEntity, where, { orderBy: { id: 'desc' }, limit });
}

/** A failure as it goes to the statement. */
export interface VerificationFailureInput extends Omit<VerificationFailureRow, 'failedAt' | 'bodySha256' | symbol> {
  /** RFC 3339. */
  readonly failedAt: string;
  /** Hexadecimal. */
  readonly bodySha256: string;
}

/** Stores failures, skips those stored before, and deletes the oldest beyond `keep`. */
export async function insertVerificationFailures(
  query: Query,
  failures: readonly VerificationFailureInput[],
  keep = MAX_FAILURES,
): Promise<void> {
  await query(INSERT_FAILURES, [JSON.stringify(failures)]);
  await query(TRIM_FAILURES, [keep]);
}

/** Anybody can cause failures, so their number is limited. */
const MAX_FAILURES = 10_000;

const INSERT_FAILURES = sql('insert-verification-failures')`
    insert into verification_failure (id, failed_at, reason, kind, status_info, claimed_merchant_id, address,
      body_bytes, body_sha256, signature_sha256prefix, explain)
    select id, "failedAt", reason, kind, "statusInfo", "claimedMerchantId", address, "bodyBytes",
      decode("bodySha256", 'hex'), "signatureSha256Prefix", explain
    from json_to_recordset($1::json) as i(id uuid, "failedAt" timestamptz, reason text, kind text, "statusInfo" text,
      "claimedMerchantId" text, address text, "bodyBytes" int, "bodySha256" text, "signatureSha256Prefix" text, explain jsonb)
    on conflict do nothing`;

const TRIM_FAILURES = sql('trim-verification-failures')`delete from verification_failure
    where id <= (select id from verification_failure order by id desc offset $1 limit 1)`;
