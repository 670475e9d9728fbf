import { defineEntity, p } from '@mikro-orm/core';
import type { SubmissionTable } from '../../domain/kinds.ts';
import { byIndex } from '../by-index.ts';
import type { Query, Statement } from '../database.ts';
import { SUBMISSION_TABLES, SUBMISSIONS } from '../operation/submissions.ts';
import { sentUnderKey } from './key-identifier.ts';

/**
 * The identity of an operation: one row for each hold and submission, written by the statement that stores it. Its requestId names nothing
 * else, whatever the kind and whoever drew it, and its key, while it is kept, nothing else of the merchant.
 */
export const ClaimEntity = defineEntity({
  name: 'Claim',
  tableName: 'claim',
  properties: {
    requestId: p.uuid().primary(),
    merchantId: p.text(),
    /** The Idempotency-Key of the call; null = it had none, or it is forgotten. */
    key: p.text().nullable(),
    /** Which method made the operation. */
    method: p.text().nullable().$type<IdempotentMethod>(),
    /** SHA-256 over the business fields of the request. */
    fingerprint: p.blob().nullable().$type<Buffer>(),
    createdAt: p.datetime(3),
  },
  checks: [
    {
      name: 'claim_key',
      expression: '(key is null) = (method is null) and (key is null) = (fingerprint is null)',
    },
  ],
  indexes: [{ name: 'claim_key_age', properties: ['createdAt'], where: 'key is not null' }],
  uniques: [{ name: 'claim_by_key', properties: ['merchantId', 'key'], where: 'key is not null' }],
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
 * SQL of a common table `claimed`: the requestIds of `source` that are now theirs, with their keys. One row claims both or neither. `source`
 * has columns "requestId", "merchantId", "createdAt" and key (json, KeyInput or null), no requestId twice, and nothing that is not stored
 * once it is claimed. What a running statement claims is waited for; all claim in the same order, so they do not wait for each other.
 */
export function claimed(source: string): string {
  return `claimed as (
    insert into claim (request_id, merchant_id, key, method, fingerprint, created_at)
    select "requestId", "merchantId", key->>'key', key->>'method', decode(key->>'fingerprint', 'hex'), "createdAt"
    from ${source} order by key->>'key', "requestId"
    on conflict do nothing
    returning request_id
  )`;
}

/** Which of these requestIds name operations. */
export async function findClaimed(query: Query, requestIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await query<{ request_id: string }>(FIND_CLAIMED, [requestIds]);
  return new Set(rows.map((row) => row.request_id));
}

const FIND_CLAIMED: Statement = {
  name: 'find-claimed',
  text: 'select request_id from claim where request_id = any($1::uuid[])',
};

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
  text: 'select request_id, method, fingerprint from claim where merchant_id = $1 and key = $2',
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
        null::uuid as "processorRequestId", ''::text as processor, json_build_object('key', $2::text, 'method', '${keyMethod}') as key) i
      ${sentUnderKey(table)} join ${table} k on ${byIndex('k.processor_request_id', 'sent."sentAs"')}
      order by k.created_at limit 1`;
    return [keyMethod, { name: `find-imported-${table}`, text }];
  }),
) as Readonly<Record<IdempotentMethod, Statement>>;
