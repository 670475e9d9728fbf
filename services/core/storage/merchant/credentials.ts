import assert from 'node:assert/strict';
import { ADVISORY_LOCKS } from '../advisory-locks.ts';
import type { Query, Statement } from '../database.ts';

/** A merchant's live credentials; hashes and ciphertexts hexadecimal, secrets older first. */
export interface CredentialsRow {
  readonly id: string;
  readonly session_hash: null;
  readonly change_number: bigint;
  readonly require_signed_captures: boolean;
  readonly capture_public_key: string | null;
  readonly api_key_hashes: readonly string[];
  readonly secrets: readonly { readonly id: string; readonly ciphertext: string }[];
}

/** A console session that was ended. */
export interface EndedSessionRow {
  readonly id: null;
  readonly session_hash: Buffer;
  readonly change_number: bigint;
  readonly expires_at: Date;
}

/**
 * Reads the merchants that changed and the sessions that ended after a change number, in the order of change numbers. One statement
 * sees one snapshot, so the last number is a cursor for both.
 */
export function readCredentials(query: Query, after: bigint): Promise<(CredentialsRow | EndedSessionRow)[]> {
  return query<CredentialsRow | EndedSessionRow>(READ_CREDENTIALS, [after]);
}

/**
 * Takes the next change number. The lock is held until commit, so numbers become visible in their order and a reader that continues
 * from the last one misses none.
 */
export async function nextChangeNumber(query: Query): Promise<bigint> {
  await query(LOCK_CHANGES, []);
  const [row] = await query<{ number: bigint }>(NEXT_CHANGE, []);
  assert(row, 'a sequence has a next value');
  return row.number;
}

const READ_CREDENTIALS: Statement = {
  name: 'read-credentials',
  text: `select m.id, null::bytea as session_hash, null::timestamptz as expires_at, m.change_number,
      m.require_signed_captures, m.capture_public_key,
      coalesce((select json_agg(encode(k.hash, 'hex')) from api_key k
        where k.merchant_id = m.id and k.revoked_at is null), '[]') as api_key_hashes,
      coalesce((select json_agg(json_build_object('id', s.id, 'ciphertext', encode(s.ciphertext, 'hex')) order by s.id)
        from signing_secret s where s.merchant_id = m.id and s.retired_at is null), '[]') as secrets
    from merchant m where m.change_number > $1
    union all
    select null, session_hash, expires_at, change_number, null, null, null, null
    from ended_session where change_number > $1
    order by change_number`,
};
const LOCK_CHANGES: Statement = {
  name: 'lock-changes',
  text: `select pg_advisory_xact_lock(${ADVISORY_LOCKS.merchantChanges})`,
};
const NEXT_CHANGE: Statement = { name: 'next-change', text: `select nextval('merchant_change') as number` };
