import assert from 'node:assert/strict';
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ADVISORY_LOCKS, type Query, sql } from '../database.ts';
import type { RelaySenderRow } from '../relay/relay-rows.ts';
import type { RelayVerification } from './merchant-row.ts';

/** An API key of a merchant; only its SHA-256 is stored. */
export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    merchantId: p.text(),
    hash: p.blob().unique().$type<Buffer>(),
    last4: p.text(),
    /** True when the key may also manage the webhook. */
    managesWebhook: p.boolean().default(false),
    createdAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    /** What it may do besides managing the webhook; null = everything. */
    scopes: p.array().columnType('text[]').nullable().$type<string[]>(),
    expiresAt: p.datetime(3).nullable(),
    /** Networks from which it may be used; null = from anywhere. */
    allowedCidrs: p.array().columnType('text[]').nullable().$type<string[]>(),
    /** To a minute or two. */
    lastUsedAt: p.datetime(3).nullable(),
  },
});
export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;

/** A live API key, as far as a call in its name depends on it. */
export type LiveApiKey = Readonly<Pick<ApiKeyRow, 'id' | 'merchantId' | 'managesWebhook'>>;

/** Finds an API key by its SHA-256 that is live at a time. */
export async function findLiveApiKey(query: Query, hash: Buffer, at: Date): Promise<LiveApiKey | undefined> {
  return (await query<LiveApiKey>(FIND_LIVE_KEY, [hash, at]))[0];
}

const FIND_LIVE_KEY = sql('find-live-api-key')`
    select id, merchant_id as "merchantId", manages_webhook as "managesWebhook" from api_key
    where hash = $1 and revoked_at is null and coalesce(expires_at > $2, true)`;

/** The last use of the API key with this SHA-256, hexadecimal. */
export interface ApiKeyUse {
  readonly hash: string;
  readonly at: Date;
}

/** Keeps when API keys were used, once a minute for each however many gateways report it. */
export async function noteApiKeyUses(query: Query, uses: readonly ApiKeyUse[]): Promise<void> {
  await query(NOTE_USES, [JSON.stringify(uses)]);
}

const NOTE_USES = sql('note-api-key-uses')`update api_key k set last_used_at = u.at
    from (select k.id, u.at from json_to_recordset($1::json) as u(hash text, at timestamptz)
        join api_key k on k.hash = any (array[decode(u.hash, 'hex')])
      where coalesce(k.last_used_at < u.at - interval '55 seconds', true)
      for update of k skip locked) u
    where k.id = u.id`;

/** SQL: the scopes of an API key `k`, all of them spelled out. */
const SCOPES_OF_KEY = `coalesce(k.scopes, '{read,hold,capture,release,refund,oct}')
          || case when k.manages_webhook then '{webhook}'::text[] else '{}' end`;
const IS_RESTRICTED = 'coalesce(k.scopes, k.allowed_cidrs) is not null or k.expires_at is not null';

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
    /** When the worker retires it; null = nobody does. */
    expiresAt: p.datetime(3).nullable(),
    /** When its merchant was told so; null = not yet. */
    expiryToldAt: p.datetime(3).nullable(),
  },
});
export type SigningSecretRow = InferEntity<typeof SigningSecretEntity>;

/** A sender as the relay verifies with it; its ciphertexts hexadecimal, its keys older first. */
export interface LiveSender extends Omit<RelaySenderRow, 'merchantId' | 'createdAt' | symbol> {
  readonly keys: readonly {
    readonly id: string;
    readonly ciphertext: string | null;
    readonly publicKey: string | null;
  }[];
}

/** An API key that may do less than its merchant; its hash hexadecimal, its end RFC 3339. */
interface RestrictedKey {
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly allowedCidrs: readonly string[];
}

/** A merchant's live credentials, secrets older first with their ciphertexts hexadecimal; or an ended session. */
export type CredentialsRow = { readonly changeNumber: bigint } & (
  | {
      readonly merchantId: string;
      readonly requireSignedCaptures: boolean;
      readonly requireSignedOcts: boolean;
      readonly requireSignedRefunds: boolean;
      readonly capturePublicKey: string | null;
      readonly apiKeyHashes: readonly Buffer[];
      readonly restricted: readonly RestrictedKey[];
      readonly secrets: readonly { readonly id: string; readonly ciphertext: string }[];
      readonly relayVerification: RelayVerification;
      readonly senders: readonly LiveSender[];
    }
  | { readonly merchantId: null; readonly sessionHash: Buffer; readonly expiresAt: Date }
);

/**
 * Reads the merchants that changed and the sessions that ended after a change number, in the order of change numbers.
 * One statement sees one snapshot, so the last number is a cursor for both.
 */
export function readCredentials(query: Query, after: bigint): Promise<CredentialsRow[]> {
  return query<CredentialsRow>(READ_CREDENTIALS, [after]);
}

/**
 * Takes the next change number. The lock is held until commit, so numbers become visible in their order and a reader
 * that continues from the last one misses none.
 */
export async function nextChangeNumber(query: Query): Promise<bigint> {
  await query(sql('lock-changes')`select pg_advisory_xact_lock(${ADVISORY_LOCKS.merchantChanges})`, []);
  const [row] = await query<{ number: bigint }>(sql('next-change')`select nextval('merchant_change') as number`, []);
  assert(row, 'a sequence has a next value');
  return row.number;
}

const READ_CREDENTIALS = sql('read-credentials')`
    select m.id as merchant_id, null::bytea as session_hash, null::timestamptz as expires_at, m.change_number,
      m.require_signed_captures, m.require_signed_octs, m.require_signed_refunds, m.capture_public_key,
      array(select k.hash from api_key k where k.merchant_id = m.id and k.revoked_at is null
        and not (${IS_RESTRICTED})) as api_key_hashes,
      coalesce((select json_agg(json_build_object('hash', encode(k.hash, 'hex'), 'scopes', ${SCOPES_OF_KEY},
          'expiresAt', k.expires_at, 'allowedCidrs', coalesce(k.allowed_cidrs, '{}')))
        from api_key k where k.merchant_id = m.id and k.revoked_at is null and (${IS_RESTRICTED})), '[]') as restricted,
      coalesce((select json_agg(json_build_object('id', s.id, 'ciphertext', encode(s.ciphertext, 'hex')) order by s.id)
        from signing_secret s where s.merchant_id = m.id and s.retired_at is null), '[]') as secrets,
      m.relay_verification, coalesce((select json_agg(json_build_object('id', r.id, 'name', r.name, 'scheme', r.scheme,
          'header', r.header, 'encoding', r.encoding, 'prefix', r.prefix, 'timestamped', r.timestamped,
          'idHeader', r.id_header, 'idPointer', r.id_pointer, 'typeHeader', r.type_header,
          'toleranceSeconds', r.tolerance_seconds, 'internalTypes', r.internal_types,
          'keys', (select json_agg(json_build_object('id', k.id, 'ciphertext', encode(k.ciphertext, 'hex'),
              'publicKey', k.public_key) order by k.id) from relay_key k where k.sender_id = r.id)) order by r.id)
        from relay_sender r where r.merchant_id = m.id), '[]') as senders
    from merchant m where m.change_number > $1
    union all
    select null, session_hash, expires_at, change_number, null, null, null, null, null, null, null, null, null
    from ended_session where change_number > $1
    order by change_number`;

/**
 * Ends a console session, by the SHA-256 of its id; it is deleted a day after it would have expired. Returns false when
 * it was ended before. Call it in a transaction, last before the commit.
 */
export async function endSession(query: Query, sessionHash: Buffer, expiresAt: Date): Promise<boolean> {
  return (await query(END_SESSION, [sessionHash, expiresAt, await nextChangeNumber(query)])).length === 1;
}

const END_SESSION = sql('end-session')`insert into ended_session (session_hash, expires_at, change_number)
    values ($1, $2, $3) on conflict do nothing returning change_number`;
