import pg from 'pg';
import { connectionOptions } from '../../database-client.ts';

/** A statement with a name: PostgreSQL plans it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}
/** Runs a statement. Returns its rows; `bigint` columns are bigints. */
export type Query = <Row extends object>(statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

/** The database of the adapter. */
export interface Database {
  /** Runs one statement in a transaction of its own. */
  readonly query: Query;
  /** Runs several statements in one transaction; whatever is thrown rolls it back. */
  transaction<T>(run: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const INT8 = 20;

/** Opens a pool of connections; none is made before the first statement. */
export function openDatabase(databaseUrl: string, poolSize = 10): Database {
  const types = {
    getTypeParser: (id: number, format?: 'text' | 'binary') =>
      id === INT8 ? BigInt : pg.types.getTypeParser(id, format as 'text'),
  };
  const pool = new pg.Pool({
    ...connectionOptions(databaseUrl),
    max: poolSize,
    types: types as pg.CustomTypesConfig,
    statement_timeout: 10_000,
    query_timeout: 12_000,
    idle_in_transaction_session_timeout: 10_000,
  });
  // An idle connection that breaks is replaced by the next statement.
  pool.on('error', () => undefined);
  return {
    query: (statement, values) => run(pool, statement, values),
    transaction: (body) => transaction(pool, body),
    close: () => pool.end(),
  };
}

async function run<Row extends object>(
  on: pg.Pool | pg.PoolClient,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await on.query<Row>({ name, text, values: [...values] });
  return rows;
}

async function transaction<T>(pool: pg.Pool, body: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    try {
      const result = await body((statement, values) => run(client, statement, values));
      await client.query('COMMIT');
      broken = false;
      return result;
    } catch (error) {
      await client.query('ROLLBACK');
      broken = false;
      throw error;
    }
  } finally {
    client.release(broken);
  }
}
