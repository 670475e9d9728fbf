import { defineEntity, p } from '@mikro-orm/core';
import type { Query, Statement } from '../database.ts';

/** An event that the processor reported, stored so that a second report changes nothing. */
export const ProcessorEventEntity = defineEntity({
  name: 'ProcessorEvent',
  tableName: 'processor_event',
  properties: {
    id: p.text().primary(),
    receivedAt: p.datetime(3),
    /** SHA-256 of its content; null for events older than this column. */
    digest: p.blob().nullable().$type<Buffer>(),
  },
});

/** Finds a stored event. */
export async function findEvent(query: Query, id: string): Promise<{ readonly digest: Buffer | null } | undefined> {
  return (await query<{ digest: Buffer | null }>(FIND_EVENT, [id]))[0];
}

const FIND_EVENT: Statement = { name: 'find-event', text: 'select digest from processor_event where id = $1' };

/** Stores an event. Returns the digest stored under its id, which may be that of an earlier report. */
export async function rememberEvent(query: Query, id: string, digest: Buffer, at: Date): Promise<Buffer | null> {
  const [row] = await query<{ digest: Buffer | null }>(REMEMBER_EVENT, [id, at, digest]);
  return row?.digest ?? null;
}

/** The update of the id by itself makes the statement return an existing row. */
const REMEMBER_EVENT: Statement = {
  name: 'remember-event',
  text: `insert into processor_event (id, received_at, digest) values ($1, $2, $3)
    on conflict (id) do update set id = excluded.id returning digest`,
};
