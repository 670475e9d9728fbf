import { ADVISORY_LOCKS, type Database, type Query, type Statement } from './database.ts';
import { isLockTimeout, isStatementTimeout } from './database-errors.ts';
import { lowestIdAt } from './id-bounds.ts';

/** The end of the kept rows, and the bounds of the partition to drop: SQL literals. */
interface Range {
  readonly before: string;
  readonly lowest: string;
  readonly end: string;
}

/** A table that is partitioned by ranges of a UUIDv7, and so by time. */
interface Partitioned {
  readonly table: 'delivery' | 'delivery_attempt' | 'operation';
  readonly key: string;
  /** Width of a partition; rows outlive their retention by as much, at most. */
  readonly days: number;
  /** Storage parameters, SQL. */
  readonly storage: string;
  /** SQL: the rows of a partition that are not dropped with it, at most one more than MOST_KEPT. */
  readonly kept: (partition: string, range: Range) => string;
  /** SQL of a condition: a row of the default partition that is old enough is deleted. */
  readonly isOver: (range: Pick<Range, 'before'>) => string;
}

/** Rows that are moved out of a partition when it is dropped; one with more is not dropped. */
const MOST_KEPT = 10_000;

/** Attempts come after their deliveries. The newest results of a partition have the highest numbers. */
const PARTITIONED: readonly Partitioned[] = [
  {
    table: 'delivery',
    key: 'id',
    days: 14,
    storage: 'fillfactor = 50',
    kept: (partition) => `select * from ${partition} where due_at is not null`,
    isOver: () => 'due_at is null',
  },
  {
    table: 'delivery_attempt',
    key: 'delivery_id',
    days: 14,
    storage: 'fillfactor = 100',
    kept: (partition, { lowest, end }) =>
      `select * from ${partition} where delivery_id in (select id from delivery where id >= ${lowest} and id < ${end})`,
    isOver: () => 'not exists (select from delivery where id = delivery_id)',
  },
  {
    table: 'operation',
    key: 'request_id',
    days: 30,
    storage: 'fillfactor = 100',
    kept: (partition, { before }) =>
      `select * from (select * from ${partition} order by sequence desc limit ${MOST_KEPT + 1}) newest
        where final_state_date >= ${before}`,
    isOver: ({ before }) => `final_state_date < ${before}`,
  },
];

const DAY_MS = 86_400_000;

/** Partitions that exist ahead of time: for four weeks at least, in which no worker need run. */
const AHEAD = 2;

/**
 * Creates the partitions of the present and of the time ahead that do not exist yet. Returns how many. Throws when one
 * cannot be attached within `attachMs`, because the default partition has too many rows: no worker has run for weeks.
 * 0 = it may take any time, during which nothing is stored.
 */
export async function makePartitions(database: Database, now: Date, attachMs: number): Promise<number> {
  let made = 0;
  for (const partitioned of PARTITIONED) {
    const widthMs = partitioned.days * DAY_MS;
    const first = Math.floor(now.getTime() / widthMs);
    for (let place = first; place <= first + AHEAD; place++) {
      if (await makePartition(database, partitioned, place * widthMs, attachMs)) made += 1;
    }
  }
  return made;
}

/**
 * Attaching locks the table against other changes of its schema only, and the default partition while its rows are
 * read, which are few. Rows that came before their partition was made stay in the default one, and then no partition is
 * made of their range.
 */
async function makePartition(
  database: Database,
  { table, key, days, storage }: Partitioned,
  fromMs: number,
  attachMs: number,
): Promise<boolean> {
  const partition = nameOf(table, fromMs);
  const [lowest, end] = [idAt(fromMs), idAt(fromMs + days * DAY_MS)];
  const isNeeded = `select to_regclass('${partition}') is null and not exists (
    select from ${table}_default where ${key} >= ${lowest} and ${key} < ${end}) as yes`;
  try {
    return await inTurn(database, isNeeded, async (query) => {
      await query(unnamed(`create table ${partition} (like ${table} including all) with (${storage})`), []);
      await query(unnamed(`set local statement_timeout = ${attachMs}`), []);
      const bounds = `for values from (${lowest}) to (${end})`;
      await query(unnamed(`alter table ${table} attach partition ${partition} ${bounds}`), []);
    });
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw new Error(`${partition} is not made: ${table}_default has too many rows; run npm run migrate`);
  }
}

/** Until when the rows of each table are kept. */
export type Retention = Readonly<Record<Partitioned['table'], Date>>;

/**
 * Drops the partitions whose rows are all older than the retention, and deletes old rows of the default partitions,
 * which have what came before its partition was made and what outlived its partition: deliveries that wait for an
 * attempt, and recent results of old operations. Returns how many partitions were dropped and rows deleted. Throws at
 * the end when a partition had too much to keep.
 */
export async function dropPartitions(database: Database, retention: Retention): Promise<number> {
  const { query } = database;
  await query(unnamed(`update installation set results_from = $1 where results_from < $1`), [
    lowestIdAt(retention.operation.getTime()),
  ]);
  let changed = 0;
  const full: string[] = [];
  for (const partitioned of PARTITIONED) {
    const { table, days } = partitioned;
    const beforeMs = retention[table].getTime();
    const over = await query<{ name: string }>(unnamed(PARTITIONS), [table, nameOf(table, beforeMs - days * DAY_MS)]);
    for (const { name } of over) {
      const dropped = await dropPartition(database, partitioned, name, beforeMs);
      if (dropped === 'FULL') full.push(name);
      if (dropped === true) changed += 1;
    }
    changed += await deleteOld(query, partitioned, beforeMs);
  }
  if (full.length > 0) throw new Error(`not dropped, with more than ${MOST_KEPT} rows to keep: ${full.join(', ')}`);
  return changed;
}

const PARTITIONS = `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = $1::regclass and c.relname ~ '_p[0-9]{8}$' and c.relname <= $2 order by 1`;

/** Moves the kept rows to the default partition. The table is locked meanwhile. */
async function dropPartition(
  database: Database,
  { table, days, kept }: Partitioned,
  partition: string,
  beforeMs: number,
): Promise<boolean | 'FULL'> {
  const fromMs = Date.parse(partition.slice(-8).replace(/^(....)(..)(..)$/, '$1-$2-$3'));
  const range = { before: timeAt(beforeMs), lowest: idAt(fromMs), end: idAt(fromMs + days * DAY_MS) };
  const rows = kept(partition, range);
  const counted = `select count(*)::int as count from (${rows} limit ${MOST_KEPT + 1}) chosen`;
  if ((await rowOf<{ count: number }>(database.query, counted)).count > MOST_KEPT) return 'FULL';
  const isThere = `select to_regclass('${partition}') is not null as yes`;
  return inTurn(database, isThere, async (query) => {
    await query(unnamed(`alter table ${table} detach partition ${partition}`), []);
    await query(unnamed(`insert into ${table} ${rows}`), []);
    await query(unnamed(`drop table ${partition}`), []);
  });
}

async function deleteOld(query: Query, { table, key, isOver }: Partitioned, beforeMs: number): Promise<number> {
  const old = `select ${key} from ${table}_default
    where ${key} < ${idAt(beforeMs)} and ${isOver({ before: timeAt(beforeMs) })} order by ${key} limit 1000`;
  return untilNone(query, unnamed(`delete from ${table}_default where ${key} in (${old}) returning ${key}`), []);
}

/** Repeats a small statement until it changes nothing, so that no statement holds many locks. Returns the changes. */
export async function untilNone(query: Query, statement: Statement, values: readonly unknown[]): Promise<number> {
  for (let changed = 0; ; ) {
    const { length } = await query(statement, values);
    if (length === 0) return changed;
    changed += length;
  }
}

/**
 * Runs a change of the schema when a condition holds, one at a time over all processes. It waits half a second for its
 * locks at most, since others wait behind it. False = it was not done.
 */
async function inTurn(database: Database, condition: string, run: (query: Query) => Promise<void>): Promise<boolean> {
  if (!(await rowOf<{ yes: boolean }>(database.query, condition)).yes) return false;
  try {
    return await database.transaction(async (query) => {
      await query(unnamed(`set local lock_timeout = '500ms'`), []);
      await query(unnamed(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.partitions})`), []);
      if (!(await rowOf<{ yes: boolean }>(query, condition)).yes) return false;
      await run(query);
      return true;
    });
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

/** By its first day, so that names are in order of time. */
function nameOf(table: string, fromMs: number): string {
  return `${table}_p${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

const idAt = (ms: number) => `'${lowestIdAt(ms)}'::uuid`;
const timeAt = (ms: number) => `'${new Date(ms).toISOString()}'::timestamptz`;
const unnamed = (text: string): Statement => ({ name: '', text });

async function rowOf<Row extends object>(query: Query, text: string): Promise<Row> {
  const [row] = await query<Row>(unnamed(text), []);
  if (!row) throw new Error('a statement that counts answers one row');
  return row;
}
