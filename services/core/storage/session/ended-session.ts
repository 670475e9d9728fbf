import { defineEntity, p } from '@mikro-orm/core';
import type { Query, Statement } from '../database.ts';
import { nextChangeNumber } from '../merchant/credentials.ts';

/** A console session that was ended by signing out; deleted a day after it would have expired. */
export const EndedSessionEntity = defineEntity({
  name: 'EndedSession',
  tableName: 'ended_session',
  properties: {
    /** SHA-256 of the session's id. */
    sessionHash: p.blob().primary().$type<Buffer>(),
    expiresAt: p.datetime(3),
    /** The cursor of the credentials feed. */
    changeNumber: p.bigint('bigint'),
  },
  indexes: [{ name: 'ended_session_change_number_index', properties: ['changeNumber'] }],
});

/** Ends a session. Returns false when it was ended before. Call it in a transaction, last before the commit. */
export async function endSession(query: Query, sessionHash: Buffer, expiresAt: Date): Promise<boolean> {
  return (await query(END_SESSION, [sessionHash, expiresAt, await nextChangeNumber(query)])).length === 1;
}

const END_SESSION: Statement = {
  name: 'end-session',
  text: `insert into ended_session (session_hash, expires_at, change_number) values ($1, $2, $3)
    on conflict do nothing returning change_number`,
};
