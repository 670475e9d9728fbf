import type { OrmHolder } from './orm.ts';

/** PostgreSQL, for bound statements. */
export interface Database {
  /**
   * Runs one statement in a transaction of its own. Columns are named in camelCase: `hold_request_id` is holdRequestId.
   */
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Runs several statements in one transaction; an error rolls it back. */
  transaction<T>(run: (query: Query) => Promise<T>): Promise<T>;
  connections(): Connections;
  /** Closes the connections that are idle: the next statements open new ones. */
  dropIdle(): Promise<void>;
  close(): Promise<void>;
}

/** The same, and the ORM on the same pool, which only `storage/` uses. */
export interface OrmDatabase extends Database, OrmHolder {}

/** Counts of connections in the pool, and of statements that wait for one. */
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

/** Makes a statement of SQL text: sql('name')`text`. */
export function sql(name: string) {
  return (parts: TemplateStringsArray, ...values: readonly (string | number | bigint)[]): Statement => {
    return { name, text: String.raw({ raw: parts }, ...values) };
  };
}

export type Query = <Row extends object>(statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

/** Reads the first row of a statement. */
export async function readRow<Row extends object>(
  query: Query,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row | undefined> {
  return (await query<Row>(statement, values))[0];
}

/**
 * A setting of PostgreSQL for our sessions: `true` in those of a process whose SYNCHRONOUS_STANDBY is true. Without it a
 * new timeline may lack something, which is the safe side.
 */
export const COMPLETE_STANDBY = 'holdfast.synchronous_standby';

/** Keys of the advisory locks of a database, in one place so that no two are the same. */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates; the migrator itself takes no lock. */
  migration: 7_215_000,
  /** Makes the order of `operation.sequence` the order of commits. */
  operationOrder: 7_215_001,
  /** Makes the order of `merchant.change_number` the order of commits. */
  merchantChanges: 7_215_002,
  /** One process at a time makes or drops partitions. */
  partitions: 7_215_003,
  /** The next link of the audit log's chain; in the migration that makes its trigger. */
  auditChain: 7_215_004,
} as const;
