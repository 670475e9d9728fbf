import { type Query, sql } from '../database.ts';
import { nextChangeNumber } from '../merchant/credential-rows.ts';

/**
 * Ends a console session, by the SHA-256 of its id; it is deleted a day after it would have expired. Returns false when
 * it was ended before. Call it in a transaction, last before the commit.
 */
export async function endSession(query: Query, sessionHash: Buffer, expiresAt: Date): Promise<boolean> {
  return (await query(END_SESSION, [sessionHash, expiresAt, await nextChangeNumber(query)])).length === 1;
}

const END_SESSION = sql('end-session')`insert into ended_session (session_hash, expires_at, change_number)
    values ($1, $2, $3) on conflict do nothing returning change_number`;
