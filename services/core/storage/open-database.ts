import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import pg, { type Pool, type PoolClient } from 'pg';
import { connectionOptions } from '../../../platform/database-client.ts';
import { parseDatabaseUrl } from '../../../platform/database-url.ts';
import type { Database, Query, Statement } from './database.ts';
import { isConnectionSpoilt } from './database-errors.ts';
import { ENTITIES } from './entities.ts';
import { ORM } from './orm.ts';

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly poolSize: number;
  /** Default TIME_LIMITS; migrations have none. */
  readonly limits?: Partial<typeof READ_LIMITS>;
}

/** Opens the pool. Throws when the database cannot be reached within 5 s, or is a standby. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const orm = await MikroORM.init({
    clientUrl: parseDatabaseUrl(settings.databaseUrl).firstUrl,
    entities: [...ENTITIES],
    extensions: [Migrator],
    pool: { min: 0, max: settings.poolSize },
    driverOptions: {
      // The ORM itself reads only address, name and password of the URL, and would drop its sslmode.
      ...connectionOptions(settings.databaseUrl),
      ...(settings.limits ?? TIME_LIMITS),
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
    // Standard output is for the process's own log; errors are thrown.
    logger: () => undefined,
  });
  const pool = (await (
    orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }
  ).getNativeClient()) as Pool;
  return {
    [ORM]: orm,
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

/** Removes the connection from the pool when it cannot roll back. */
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
 * Limits of reads that callers ask for: whoever asks for too much gets a refusal soon, and learns soon that the server
 * is frozen. The last one is for a new connection and for one of the pool.
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
const PLANNER = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off';
