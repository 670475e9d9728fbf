import type { SentKind } from '../../domain/kinds.ts';
import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';

/**
 * The call that causes an operation. A claim is the identity of an operation: one row for each hold and submission,
 * written by the statement that stores it. Its requestId is unique over all kinds and callers. Its key is unique for
 * its merchant for as long as it is kept. Operations without a call have no method and no fingerprint.
 */
export interface ClaimInput {
  readonly method: SentKind;
  /** SHA-256 over its business fields, hexadecimal. */
  readonly fingerprint: string;
  /** Other fingerprints of the same call; absent = none. Computed on demand. */
  readonly alike?: (() => readonly string[]) | undefined;
  readonly key?: string | undefined;
}

/** SQL: columns of the input of a statement that stores operations, with their types. */
export const CLAIM_INPUT = 'method text, fingerprint text, key text';

/**
 * SQL of how a merchant's key is stored: as a hash, since a key may be anything that its caller has, also a card number.
 */
export function keyHash(merchantId: string, key: string): string {
  return `'sha256:' || encode(sha256(convert_to(${merchantId} || '/' || ${key}, 'UTF8')), 'base64')`;
}

/**
 * SQL of a common table `claimed`: the requestIds of `admissible` that are now theirs, with their keys. One row claims
 * both or neither, so all that is claimed is stored. `admissible` has no requestId twice. What a running statement
 * claims is waited for; all claim in the same order, so they do not wait for each other.
 *
 * Release 1.0.0 stored keys as they were; the next one finds these until they are purged, and the one after it needs
 * only the hash.
 */
export const CLAIMED = `claimed as (
    insert into claim (request_id, merchant_id, method, fingerprint, key, created_at)
    select "requestId", "merchantId", method, decode(fingerprint, 'hex'), ${keyHash('"merchantId"', 'key')}, "createdAt"
    from admissible a
    where key is null or not exists (select from claim k
      where ${byIndex('k.merchant_id', 'a."merchantId"')} and ${byIndex('k.key', 'a.key')})
    order by 5, "requestId"
    on conflict do nothing
    returning request_id
  )`;

/** The identity of an operation. */
export interface Claim {
  readonly requestId: string;
  readonly merchantId: string;
  readonly method: SentKind | null;
  readonly fingerprint: Buffer | null;
}

/** Finds what operations of these requestIds there are. */
export async function findClaims(query: Query, requestIds: readonly string[]): Promise<Claim[]> {
  return query<Claim>(FIND_CLAIMS, [requestIds]);
}

const CLAIM = 'request_id as "requestId", merchant_id as "merchantId", method, fingerprint';

const FIND_CLAIMS = sql('find-claims')`select ${CLAIM} from claim where request_id = any($1::uuid[])`;

/** Finds the operation that holds a key. */
export async function findKey(query: Query, merchantId: string, key: string): Promise<Claim | undefined> {
  return (await query<Claim>(FIND_KEY, [merchantId, key]))[0];
}

const FIND_KEY = sql('find-key')`select ${CLAIM} from claim
  where merchant_id = $1 and key in (${keyHash('$1::text', '$2::text')}, $2)`;
