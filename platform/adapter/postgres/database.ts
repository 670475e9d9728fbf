import pg from 'pg';
import { connectionOptions } from '../../database-client.ts';

/**
 * Runs a statement. Returns its rows; `bigint` columns are bigints. PostgreSQL plans a text once per connection, so
 * what differs from call to call is a value.
 */
export type Query = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** The database of the adapter. */
export interface Database {
  /** Runs one statement in a transaction of its own. */
  readonly query: Query;
  /** Runs several statements in one transaction; whatever is thrown rolls it back. */
  transaction<T>(run: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const INT8 = 20;

/**
 * Opens a pool of connections, for which tables are those of a schema; none is made before the first statement.
 */
export function openDatabase(databaseUrl: string, schema: string): Database {
  const types = {
    getTypeParser: (id: number, format?: 'text' | 'binary') =>
      id === INT8 ? BigInt : pg.types.getTypeParser(id, format as 'text'),
  };
  const pool = new pg.Pool({
    ...connectionOptions(databaseUrl),
    types: types as pg.CustomTypesConfig,
    statement_timeout: 10_000,
    query_timeout: 12_000,
    idle_in_transaction_session_timeout: 10_000,
    // The pool waits for it before the first statement.
    onConnect: (client) => client.query(`SET search_path TO ${schema}`),
  });
  // An idle connection that breaks is replaced by the next statement.
  pool.on('error', () => undefined);
  return {
    query: (text, values) => run(pool, text, values),
    transaction: (body) => transaction(pool, body),
    close: () => pool.end(),
  };
}

/** Names of statements: PostgreSQL keeps the plan of one that has a name. */
const names = new Map<string, string>();

async function run<Row extends object>(
  on: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const name = names.get(text) ?? `statement_${names.size}`;
  names.set(text, name);
  const { rows } = await on.query<Row>({ name, text, values: [...values] });
  return rows;
}

async function transaction<T>(pool: pg.Pool, body: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    try {
      const result = await body((text, values) => run(client, text, values));
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
