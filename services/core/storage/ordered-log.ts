import type { Query } from './database.ts';

/** A place in a log, named by the row that stands there, so that it belongs to one history. */
export interface LogPosition {
  readonly sequence: bigint;
  /** 12 hexadecimal digits that another row has only by chance; empty before the first row. */
  readonly mark: string;
}

/** What stands at a sequence; `isFollowed` = no row after it was dropped for its age. */
export interface PlaceInLog {
  readonly mark: string;
  readonly isFollowed: boolean;
}

/** A row of a log. */
export interface LogRow {
  readonly sequence: bigint;
  readonly merchantId: string;
}

/**
 * Rows that are only appended. `sequence` orders them, and no row appears later before one that was read, so it is the
 * whole cursor of a stream.
 */
export interface OrderedLog<Row extends LogRow> {
  /** Reads rows after a sequence, in order. */
  read(query: Query, after: bigint, limit: number): Promise<Row[]>;
  /** Reads the row at a sequence, any merchant's, and a merchant's rows after it, in order. */
  readOf(query: Query, merchantId: string, after: bigint, limit: number): Promise<Row[]>;
  /** Returns the present end; sequence 0 and an empty mark when there is no row. */
  last(query: Query): Promise<LogPosition>;
  /** Looks up the row at a sequence, 0 = before the first one; undefined = there is none. */
  placeAt(query: Query, sequence: bigint): Promise<PlaceInLog | undefined>;
  positionOf(row: Row): LogPosition;
  storedAt(row: Row): Date;
  /** The memory that a row takes beside its fields of bounded size. */
  bytesOf(row: Row): number;
}
