import { defineEntity, p } from '@mikro-orm/core';
import type { SubmissionTable } from '../../domain/kinds.ts';
import { byIndex } from '../by-index.ts';
import type { Query, Statement } from '../database.ts';
import { SUBMISSION_TABLES, SUBMISSIONS } from '../operation/submissions.ts';
import { sentUnderKey } from './key-identifier.ts';

/** A key a merchant sent with a request, written in the transaction that stored the operation it made. */
export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    merchantId: p.text().primary(),
    key: p.text().primary(),
    /** Which method made the operation. */
    method: p.text().$type<IdempotentMethod>(),
    /** SHA-256 over the business fields of the request. */
    fingerprint: p.blob().$type<Buffer>(),
    requestId: p.uuid(),
    createdAt: p.datetime(3),
  },
  indexes: [{ name: 'idempotency_key_age', properties: ['createdAt'] }],
});

/** The methods that take a key. */
export type IdempotentMethod = (typeof SUBMISSIONS)[SubmissionTable]['keyMethod'];

/** An idempotency key that comes with a command. */
export interface KeyInput {
  readonly key: string;
  readonly method: IdempotentMethod;
  /** SHA-256 over the request's business fields, hexadecimal. */
  readonly fingerprint: string;
}

/**
 * SQL of a common table `claimed`, with the requestIds whose key is now theirs. `source` has columns "requestId",
 * "merchantId", "createdAt" and key (json, KeyInput or null). A key that is being claimed by a running transaction is waited for.
 */
export function claimKeys(source: string): string {
  return `claimed as (
    insert into idempotency_key (merchant_id, key, method, fingerprint, request_id, created_at)
    select "merchantId", key->>'key', key->>'method', decode(key->>'fingerprint', 'hex'), "requestId", "createdAt"
    from ${source} where key is not null
    on conflict (merchant_id, key) do nothing
    returning request_id
  )`;
}

/** Looks up who holds a key. */
export async function findKey(query: Query, merchantId: string, key: string): Promise<KeyOwner | undefined> {
  return (await query<KeyOwner>(FIND_KEY, [merchantId, key]))[0];
}

export interface KeyOwner {
  readonly request_id: string;
  readonly method: IdempotentMethod;
  readonly fingerprint: Buffer;
}

const FIND_KEY: Statement = {
  name: 'find-key',
  text: 'select request_id, method, fingerprint from idempotency_key where merchant_id = $1 and key = $2',
};

/** Looks up the operation that has the identifier of a key, and was imported after a restore, which lost the key. */
export async function findImported(
  query: Query,
  merchantId: string,
  { key, method }: Pick<KeyInput, 'key' | 'method'>,
  now: Date,
): Promise<string | undefined> {
  const rows = await query<{ request_id: string }>(FIND_IMPORTED[method], [merchantId, key, now]);
  return rows[0]?.request_id;
}

const FIND_IMPORTED = Object.fromEntries(
  SUBMISSION_TABLES.map((table): [IdempotentMethod, Statement] => {
    const { keyMethod } = SUBMISSIONS[table];
    const text = `select k.request_id from (select $1::text as "merchantId", $3::timestamptz as "createdAt",
        null::uuid as "processorRequestId", json_build_object('key', $2::text, 'method', '${keyMethod}') as key) i
      ${sentUnderKey(table)} join ${table} k on ${byIndex('k.processor_request_id', 'sent."sentAs"')}`;
    return [keyMethod, { name: `find-imported-${table}`, text }];
  }),
) as Readonly<Record<IdempotentMethod, Statement>>;
