import type { OrmHolder } from './orm.ts';

/** PostgreSQL: bound statements for the hot path, and the ORM on the same pool, which only `storage/` uses. */
export interface Database extends OrmHolder {
  /** Runs one statement in a transaction of its own. */
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Runs several statements in one transaction; an error rolls it back. */
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
