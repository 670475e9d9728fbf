import { defineEntity, p } from '@mikro-orm/core';
import type { Query, Statement } from '../database.ts';

/** An event that a processor reported, stored so that a second report changes nothing. */
export const ProcessorEventEntity = defineEntity({
  name: 'ProcessorEvent',
  tableName: 'processor_event',
  properties: {
    id: p.text().primary(),
    /** A name of PROCESSORS; empty = stored before this column was, so of any. */
    processor: p.text().primary().default(''),
    receivedAt: p.datetime(3),
    /** SHA-256 of its content; null for events older than this column. */
    digest: p.blob().nullable().$type<Buffer>(),
  },
});

/** An event as it is stored: each processor draws its own ids. */
export interface NamedEvent {
  readonly id: string;
  readonly processor: string;
  /** SHA-256 of what it says. */
  readonly digest: Buffer;
}

/** Finds a stored event of a processor by the names under which it is stored. */
export async function findEvent(
  query: Query,
  id: string,
  processors: readonly string[],
): Promise<{ readonly digest: Buffer | null } | undefined> {
  return (await query<{ digest: Buffer | null }>(FIND_EVENT, [id, processors]))[0];
}

/** An event of a name stands before one that may be of any processor. */
const FIND_EVENT: Statement = {
  name: 'find-event',
  text: `select digest from processor_event where id = $1 and (processor = any($2) or processor = '') order by processor desc limit 1`,
};

/** Stores an event. Returns the digest stored under its name, which may be that of an earlier report. */
export async function rememberEvent(
  query: Query,
  { id, processor, digest }: NamedEvent,
  at: Date,
): Promise<Buffer | null> {
  const [row] = await query<{ digest: Buffer | null }>(REMEMBER_EVENT, [id, processor, at, digest]);
  return row?.digest ?? null;
}

/** The update of the id by itself makes the statement return an existing row. */
const REMEMBER_EVENT: Statement = {
  name: 'remember-event',
  text: `insert into processor_event (id, processor, received_at, digest) values ($1, $2, $3, $4)
    on conflict (id, processor) do update set id = excluded.id returning digest`,
};
