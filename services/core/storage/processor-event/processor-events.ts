import { type Query, sql } from '../database.ts';

/** An event that a processor reported, stored so that a second report changes nothing: each draws its own ids. */
export interface NamedEvent {
  readonly id: string;
  readonly processor: string;
  /** Whose operation it is about. */
  readonly merchantId: string;
  /** SHA-256 of its content. */
  readonly digest: Buffer;
}

/** Finds a stored event of a processor. */
export async function findEvent(query: Query, id: string, processor: string) {
  return (await query<{ digest: Buffer }>(FIND_EVENT, [id, processor]))[0];
}

const FIND_EVENT = sql('find-event')`select digest from processor_event where id = $1 and processor = $2`;

/**
 * Stores an event; that it was refused before, when something was not known yet, needs nobody any more. Returns the digest stored under its name, which may be that of an earlier report. */
export async function rememberEvent(query: Query, event: NamedEvent, at: Date): Promise<Buffer> {
  const { id, processor, merchantId, digest } = event;
  const [row] = await query<{ digest: Buffer }>(REMEMBER_EVENT, [id, processor, merchantId, at, digest]);
  return row?.digest ?? digest;
}

/** The update of the id by itself makes the statement return an existing row. */
const REMEMBER_EVENT = sql('remember-event')`with accepted as (
      update contradiction set resolved_at = $4, resolved_by = 'core', resolution = 'the event was accepted later'
      where event_id = $1 and processor = $2 and resolved_at is null and kind = 'EVENT_REFUSED'
    )
    insert into processor_event (id, processor, merchant_id, received_at, digest) values ($1, $2, $3, $4, $5)
    on conflict (id, processor) do update set id = excluded.id returning digest`;
