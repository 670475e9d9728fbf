import { readFileSync } from 'node:fs';
import { type Message, toJson } from '@bufbuild/protobuf';
import type pg from 'pg';
import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';
import { Answer, type Entry, EntryKind, EntrySchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { ProcessorEntries } from '../../../proto/gen/holdfast/v1/audit_pb.js';
import { OPERATION_KINDS, SUBMISSION_KINDS } from '../domain/kinds.ts';
import { HoldfastError } from '../domain/refusal.ts';
import { type Ledger, MOST_UNKNOWN, readEntries, type Selection } from '../processor/read-entries.ts';

/** The books of each processor, by its name; the default one first. */
export type Ledgers = ReadonlyMap<string, Ledger>;

/** The connection with the copies of the books, and the processors. */
export interface Comparison {
  readonly client: pg.Client;
  readonly processors: Ledgers;
  /** When the books of a processor cannot be read: throw UNAVAILABLE, naming it, or go on without them. */
  readonly unreadable: 'THROW' | 'LEAVE_OUT';
}

/** The extent of the reading. */
export interface Reading extends Pick<Selection, 'changedFrom'> {
  /** Greatest number of a processor's entries that match no operation of ours; absent = a million. */
  readonly mostUnknown?: number | undefined;
}

/** Number of entries of a processor. */
export type EntryCount = Readonly<Omit<ProcessorEntries, keyof Message>>;

const COMPARED_BOOKS = readFileSync(new URL('./compared-books.sql', import.meta.url), 'utf8');

/** Runs a comparison in a session of its own, with the tables and views of compared-books.sql. */
export async function comparing<T>(databaseUrl: string, compare: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new DatabaseClient(connectionOptions(databaseUrl));
  await client.connect();
  try {
    await client.query(COMPARED_BOOKS);
    await client.query(INSERT_KINDS, [JSON.stringify(KINDS)]);
    return await compare(client);
  } finally {
    await client.end();
  }
}

const KINDS = Object.entries(SUBMISSION_KINDS).map(([kind, { operation, entry, reserves, mustHappen }]) => {
  const success = operation && OPERATION_KINDS[operation].successStatus;
  return { kind, operation, entry, reserves, must_happen: mustHappen, success };
});

const INSERT_KINDS = 'insert into kind select * from json_populate_recordset(null::kind, $1::json)';

/**
 * Copies the processors' books into the session, page by page. Returns how many entries each has that was read. Books
 * of more entries than `mostUnknown` and four for each operation that was ever sent to their processor do not end.
 */
export async function copyEntries(
  comparison: Comparison,
  { mostUnknown = MOST_UNKNOWN, changedFrom }: Reading,
): Promise<EntryCount[]> {
  const { client, processors } = comparison;
  const counts: EntryCount[] = [];
  for (const processor of processors.keys()) {
    const { rows } = await client.query<{ sent: number }>(COUNT_SENT, [processor]);
    const most = mostUnknown + MOST_FOR_EACH * (rows[0]?.sent ?? 0);
    const entries = await copyPages(comparison, processor, { changedFrom }, most);
    if (entries !== undefined) counts.push({ processor, entries });
  }
  // The sums of each authorization are found by it.
  await client.query('create index on processor_entry (authorization_request_id, processor)');
  if (changedFrom) await readWhole(comparison);
  await client.query('analyze processor_entry');
  return counts;
}

/** Reads all of a hold with several authorizations when some of it was read: its sums are those of all of them. */
async function readWhole(comparison: Comparison): Promise<void> {
  const { rows } = await comparison.client.query<{ id: string }>(FIND_READ);
  await readAgain(
    comparison,
    rows.map(({ id }) => id),
  );
}

const FIND_READ = `select distinct o.hold_request_id as id
  from our_renewal r join our_authorization o on o.hold_request_id = r.hold_request_id
    join processor_entry e on e.request_id = o.identifier and e.processor = o.processor
  where r.state = 'OK'`;

/** An operation may leave fences and voids in the books beside its own entry. */
const MOST_FOR_EACH = 4;

const COUNT_SENT = `select ((select count(*) from hold where processor = $1)
  + (select count(*) from submission where processor = $1))::int as sent`;

/**
 * Reads again what differed, by its requestIds: the authorizations concerned, and the credits by their own identifier.
 */
export async function readAgain(comparison: Comparison, suspects: readonly string[]): Promise<void> {
  const { client, processors } = comparison;
  const { rows } = await client.query<{ id: string }>(READ_AGAIN, [suspects.filter((id) => id !== '')]);
  for (const processor of processors.keys()) {
    for (const { id: authorizationRequestId } of rows) {
      if ((await copyPages(comparison, processor, { authorizationRequestId })) === undefined) break;
    }
  }
}

/**
 * A suspect is named by our requestId, or by the processor's identifier of an operation unknown here. Of a hold all
 * authorizations are read.
 */
const READ_AGAIN = `with suspect as (
    select s.id, b.hold_request_id, b.processor_request_id, e.authorization_request_id, e.kind
    from unnest($1::uuid[]) as s(id) left join submission b on b.request_id = s.id
      left join processor_entry e on e.request_id = s.id
  )
  select coalesce(h.processor_request_id, h.request_id, s.processor_request_id, s.authorization_request_id, s.id) as id
    from suspect s left join hold h on h.request_id = coalesce(s.hold_request_id, s.id)
  union
  select r.identifier from suspect s join our_renewal r on r.hold_request_id = coalesce(s.hold_request_id, s.id)
  union
  select id from suspect where kind = 'AUTHORIZATION'`;

/** Copies some entries of a processor. Returns how many they are; undefined = the processor is left out. */
async function copyPages(
  { client, processors, unreadable }: Comparison,
  processor: string,
  selection: Selection,
  most?: number,
): Promise<number | undefined> {
  let count = 0;
  try {
    const ledger = processors.get(processor) as Ledger;
    for await (const { entries, invalid } of readEntries(processor, ledger, selection, most)) {
      await client.query(INSERT_ENTRIES, [JSON.stringify(entries.map((entry) => rowOf(processor, entry)))]);
      for (const { requestId, what } of invalid) await client.query(INSERT_INVALID, [requestId, processor, what]);
      count += entries.length + invalid.length;
    }
    return count;
  } catch (error) {
    if (unreadable === 'THROW' || !(error instanceof HoldfastError)) throw error;
    await client.query(LEAVE_OUT, [processor, error.message]);
    return undefined;
  }
}

/** The columns of the copy are called as the contract's fields are. */
function rowOf(processor: string, entry: Entry): object {
  return {
    ...(toJson(EntrySchema, entry, { useProtoFieldName: true, alwaysEmitImplicit: true }) as object),
    processor,
    kind: EntryKind[entry.kind],
    answer: Answer[entry.answer],
    authorization_request_id: entry.authorizationRequestId || null,
    capture_request_id: entry.captureRequestId || null,
    contradicts: false,
  };
}

/** Copies one page. An entry that is read again replaces the earlier copy. */
const INSERT_ENTRIES = `insert into processor_entry
  select * from json_populate_recordset(null::processor_entry, $1::json)
  on conflict (request_id, processor) do update set answer = excluded.answer, amount = excluded.amount,
    captured = excluded.captured, voided = excluded.voided, reversed = excluded.reversed,
    incremented = excluded.incremented, refunded = excluded.refunded, returned = excluded.returned,
    ended_at = excluded.ended_at,
    contradicts = processor_entry.contradicts
      or (processor_entry.kind, processor_entry.merchant_id, processor_entry.currency)
        is distinct from (excluded.kind, excluded.merchant_id, excluded.currency)`;

const INSERT_INVALID = `insert into invalid_entry (request_id, processor, what) values ($1, $2, $3)
  on conflict do nothing`;

const LEAVE_OUT = `with gone as (delete from processor_entry where processor = $1)
  insert into left_out (processor, why) values ($1, $2) on conflict do nothing`;
