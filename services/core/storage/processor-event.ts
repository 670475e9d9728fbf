import { defineEntity, p } from '@mikro-orm/core';
import type { Query, Statement } from './database.ts';

/** An event that the processor reported, remembered so that a second report changes nothing. */
export const ProcessorEventEntity = defineEntity({
  name: 'ProcessorEvent',
  tableName: 'processor_event',
  properties: {
    id: p.text().primary(),
    receivedAt: p.datetime(3),
    /** SHA-256 of what it said; null when it came before that was kept. */
    digest: p.blob().nullable().$type<Buffer>(),
  },
});

/** Remembers an event; answers the digest that is kept under its identifier, which another report may have brought first. */
export async function rememberEvent(query: Query, id: string, digest: Buffer, at: Date): Promise<Buffer | null> {
  const [row] = await query<{ digest: Buffer | null }>(REMEMBER_EVENT, [id, at, digest]);
  return row?.digest ?? null;
}

/** Writing the identifier over itself makes the row that was there before come back. */
const REMEMBER_EVENT: Statement = {
  name: 'remember-event',
  text: `insert into processor_event (id, received_at, digest) values ($1, $2, $3)
    on conflict (id) do update set id = excluded.id returning digest`,
};
