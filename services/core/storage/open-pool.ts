import pg, { type Pool } from 'pg';
import { connectionOptions } from '../../../platform/database-client.ts';
import { committing, demandInTime } from './bound-change.ts';
import { COMPLETE_STANDBY, type Database, type Query } from './database.ts';
import { isConnectionSpoilt, isPlanOutdated } from './database-errors.ts';

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly poolSize: number;
  /** Default TIME_LIMITS; migrations have none. */
  readonly limits?: Partial<typeof READ_LIMITS>;
  /** A standby that takes over has every commit: a new timeline loses nothing, also before a process has noticed it. */
  readonly isStandbyComplete?: boolean;
}

/** Opens a pool without the ORM, which takes as long to load as all the rest of a worker. Errors as openDatabase(). */
export async function openPool(settings: DatabaseSettings): Promise<Database> {
  const pool = new pg.Pool({ ...poolOptions(settings), max: settings.poolSize });
  // The statements of a connection that ends fail by themselves.
  pool.on('error', () => undefined);
  (await pool.connect()).release();
  return { ...databaseOn(pool), close: () => pool.end() };
}

/** Returns the options of a pool's connections. */
export function poolOptions({ databaseUrl, limits, isStandbyComplete = false }: DatabaseSettings) {
  const session = { ...PLANNER, ...(isStandbyComplete && { [COMPLETE_STANDBY]: 'true' }) };
  return { ...connectionOptions(databaseUrl), ...(limits ?? TIME_LIMITS), session };
}

/** Runs statements on a pool. */
export function databaseOn(pool: Pool): Omit<Database, 'close'> {
  return {
    async query(statement, values) {
      for (;;) {
        try {
          return await queryOn(pool)(statement, values);
        } catch (error) {
          // It was not executed, and the pool has closed its connection: another one plans it anew.
          if (!isPlanOutdated(error)) throw error;
        }
      }
    },
    transaction: (run) => transaction(pool, run),
    dropIdle: async () => {
      const idle = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
      for (const client of idle) client.release(true);
    },
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  };
}

async function transaction<T>(pool: Pool, run: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const answer = await run(queryOn(client));
    await demandInTime(queryOn(client));
    await committing((begins) => {
      begins();
      return client.query('commit');
    });
    client.release();
    return answer;
  } catch (error) {
    // A connection that cannot roll back is closed, too.
    const isSpoilt = isConnectionSpoilt(error) || (await client.query('rollback').catch(() => undefined)) === undefined;
    client.release(isSpoilt);
    throw error;
  }
}

/** Runs statements on a connection, or each on one of a pool. */
export function queryOn(connection: Pool | pg.ClientBase): Query {
  return async (statement, values) =>
    rowsOf(await connection.query({ ...statement, values: [...values], types: TYPES, rowMode: 'array' }));
}

/** Rows with their columns' names in camelCase, as entities have them. */
function rowsOf<Row extends object>({ fields, rows }: pg.QueryArrayResult): Row[] {
  const names = fields.map(({ name }) => camelCased(name));
  // A row begins with all its properties: adding them one by one takes eight times as long (measured, 72 columns).
  const empty = { ...Object.fromEntries(names.map((name) => [name, null])) };
  return rows.map((values) => {
    const row: Record<string, unknown> = { ...empty };
    names.forEach((name, index) => {
      row[name] = values[index];
    });
    return row as Row;
  });
}

const PROPERTIES = new Map<string, string>();

function camelCased(column: string): string {
  let name = PROPERTIES.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    PROPERTIES.set(column, name);
  }
  return name;
}

/** int8 as bigint, because money is never a float; times as Date. The ORM's pool would give strings for both. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, (text: string) => BigInt(text));

/**
 * Limits how long a statement, a lock or an open transaction may last. A statement waits at most 2 s for a lock, and
 * the transaction of a frozen process is aborted after 2 s. The client's timeout is longer than the server's: when it
 * passes, the server is frozen or unreachable, and the connection is closed.
 */
export const TIME_LIMITS = {
  statement_timeout: 8_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 2_000,
  query_timeout: 10_000,
};

/**
 * Limits of reads on behalf of callers: an expensive read, or a frozen server, fails soon. The last limit holds for a
 * new connection, and for one from the pool.
 */
export const READ_LIMITS = {
  ...TIME_LIMITS,
  statement_timeout: 2_000,
  query_timeout: 2_500,
  connectionTimeoutMillis: 2_500,
};

/**
 * A named statement keeps its first plan, which is made on empty tables, where a sequential scan looks cheapest
 * (measured: 700 holds a second with such a plan). Every statement finds its rows by an index, so other plans are
 * disabled. The reconciliation, which reads whole tables, has a connection of its own without this.
 */
const PLANNER = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' };
