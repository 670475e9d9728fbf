import { toJson } from '@bufbuild/protobuf';
import type pg from 'pg';
import { Answer, type Entry, EntryKind, EntrySchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { HoldfastError } from '../domain/refusal.ts';
import { type Ledger, MOST_UNKNOWN, readEntries, type Selection } from '../processor/read-entries.ts';
import type { EntryCount } from './drift.ts';
import { COUNT_SENT, CREATE_COPY, INDEX_COPY, INSERT_ENTRIES, INSERT_INVALID, LEAVE_OUT } from './ledger-queries.ts';

/** The books of each processor, by its name; the default one first. */
export type Ledgers = ReadonlyMap<string, Ledger>;

/** What to do when the books of a processor cannot be read: throw UNAVAILABLE, naming it, or go on without them. */
export type Unreadable = 'THROW' | 'LEAVE_OUT';

/** How much of the books is read. */
export interface Reading extends Pick<Selection, 'changedFrom'> {
  /** Entries that a processor's books may have besides those for what was sent to it; absent = a million. */
  readonly mostUnknown?: number | undefined;
}

/**
 * Copies the processors' books into a table of this session, page by page. Resolves with how many entries each has that
 * was read. Books of more entries than `mostUnknown` and four for each operation that was ever sent to their processor
 * do not end.
 */
export async function copyEntries(
  client: pg.Client,
  processors: Ledgers,
  unreadable: Unreadable,
  { mostUnknown = MOST_UNKNOWN, changedFrom }: Reading = {},
): Promise<EntryCount[]> {
  await client.query(CREATE_COPY);
  const counts: EntryCount[] = [];
  for (const [processor, ledger] of processors) {
    const sent = (await client.query<{ sent: number }>(COUNT_SENT, [processor])).rows[0]?.sent ?? 0;
    const most = mostUnknown + MOST_FOR_EACH * sent;
    const entries = await orLeaveOut(client, processor, unreadable, () =>
      copyPages(client, processor, ledger, { changedFrom }, most),
    );
    if (entries !== undefined) counts.push({ processor, entries });
  }
  await client.query(INDEX_COPY);
  await client.query('analyze processor_entry');
  return counts;
}

/** An operation may leave fences and voids in the books beside its own entry. */
const MOST_FOR_EACH = 4;

/**
 * Reads again what differed, by its requestIds: the authorizations concerned, and the credits by their own identifier.
 */
export async function readAgain(
  client: pg.Client,
  processors: Ledgers,
  suspects: readonly string[],
  unreadable: Unreadable,
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(READ_AGAIN, [suspects.filter((id) => id !== '')]);
  for (const [name, processor] of processors) {
    await orLeaveOut(client, name, unreadable, async () => {
      for (const { id } of rows) await copyPages(client, name, processor, { authorizationRequestId: id });
    });
  }
}

async function orLeaveOut<T>(
  client: pg.Client,
  processor: string,
  unreadable: Unreadable,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (unreadable === 'THROW' || !(error instanceof HoldfastError)) throw error;
    await client.query(LEAVE_OUT, [processor, error.message]);
    return undefined;
  }
}

async function copyPages(
  client: pg.Client,
  name: string,
  processor: Ledger,
  selection: Selection,
  most?: number,
): Promise<number> {
  let count = 0;
  for await (const { entries, invalid } of readEntries(name, processor, selection, most)) {
    await client.query(INSERT_ENTRIES, [JSON.stringify(entries.map((entry) => rowOf(name, entry)))]);
    for (const { requestId, what } of invalid) await client.query(INSERT_INVALID, [requestId, name, what]);
    count += entries.length + invalid.length;
  }
  return count;
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
  };
}

/** A suspect is named by our requestId, or by the processor's identifier of what we do not know. */
const READ_AGAIN = `select distinct coalesce(h.processor_request_id, h.request_id, s.processor_request_id,
  e.authorization_request_id,
    suspect.id) as id
  from unnest($1::uuid[]) as suspect(id) left join submission s on s.request_id = suspect.id
    left join hold h on h.request_id = coalesce(s.hold_request_id, suspect.id)
    left join processor_entry e on e.request_id = suspect.id`;
