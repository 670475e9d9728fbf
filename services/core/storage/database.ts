import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import pg, { type Pool, type PoolClient } from 'pg';
import { isConnectionSpoilt } from './database-errors.ts';
import { ENTITIES } from './entities.ts';

/** PostgreSQL, by two ways: the ORM for everyday reads and writes, bound statements on its pool for the hot path. */
export interface Database {
  readonly orm: MikroORM;
  /** Runs one statement in a transaction of its own. */
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Runs several statements in one transaction; whatever is thrown rolls it back. */
  transaction<T>(run: (query: Query) => Promise<T>): Promise<T>;
  connections(): Connections;
  /** Closes the connections that are idle: the next statements open new ones. */
  dropIdle(): Promise<void>;
  close(): Promise<void>;
}

/** How many connections the pool has, and how many statements wait for one. */
export interface Connections {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

/** A statement with a name: PostgreSQL plans it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}
export type Query = <Row extends object>(statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly poolSize: number;
  /** False = statements may take as long as they need: migrations. */
  readonly limited?: boolean;
}

/** Opens the pool. Throws when the database cannot be reached within 5 s. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const orm = await MikroORM.init({
    clientUrl: settings.databaseUrl,
    entities: [...ENTITIES],
    extensions: [Migrator],
    pool: { min: 0, max: settings.poolSize },
    driverOptions: {
      // The ORM itself reads only address, name and password of the URL, and would drop its sslmode.
      connectionString: settings.databaseUrl,
      connectionTimeoutMillis: 5_000,
      ...(settings.limited === false ? {} : TIME_LIMITS),
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      options: PLANNER,
    },
    migrations: {
      path: `${import.meta.dirname}/migrations`,
      tableName: 'migration',
      snapshot: false,
      allOrNothing: true,
      silent: true,
    },
    debug: false,
    // Standard output belongs to the process's own log; what goes wrong here is thrown.
    logger: () => undefined,
  });
  const pool = (await (
    orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }
  ).getNativeClient()) as Pool;
  return {
    orm,
    query: async (statement, values) => rowsOf(await pool.query(bound(statement, values))),
    transaction: (run) => transaction(pool, run),
    dropIdle: async () => {
      const idle = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
      for (const client of idle) client.release(true);
    },
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => orm.close(true),
  };
}

async function transaction<T>(pool: Pool, run: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const answer = await run(async (statement, values) => rowsOf(await client.query(bound(statement, values))));
    await client.query('commit');
    client.release();
    return answer;
  } catch (error) {
    if (isConnectionSpoilt(error)) client.release(error as Error);
    else await rollback(client);
    throw error;
  }
}

/** A connection that cannot roll back is of no further use: the pool drops it. */
async function rollback(client: PoolClient): Promise<void> {
  try {
    await client.query('rollback');
    client.release();
  } catch (error) {
    client.release(error as Error);
  }
}

function bound(statement: Statement, values: readonly unknown[]) {
  return { ...statement, values: [...values], types: TYPES };
}

function rowsOf<Row>(result: { rows: unknown[] }): Row[] {
  return result.rows as Row[];
}

/** int8 as bigint, because money is never a float; times as Date. The ORM's pool would give strings for both. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, (text: string) => BigInt(text));

/**
 * No statement, lock or open transaction holds anybody up for long. A statement waits at most 2 s for a lock, and a process that is
 * frozen inside a transaction loses it, with its locks, after 2 s. The client gives up after the server would have: then the server
 * is frozen or out of reach, and the connection is closed.
 */
const TIME_LIMITS = {
  statement_timeout: 8_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 2_000,
  query_timeout: 10_000,
};

/**
 * A named statement keeps the plan it got first, and the first plan is made on empty tables, where reading all of a table looks
 * cheapest. Every statement here finds its rows by an index, so the planner is told not to think of anything else. (Measured: 700
 * holds a second with the plan of an empty table.) What reads whole tables, the audit, has a connection of its own without this.
 */
const PLANNER = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off';
