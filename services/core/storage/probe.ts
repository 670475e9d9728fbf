import type { Query, Statement } from './database.ts';

/** The state of a database. */
export interface ProbeAnswer {
  /** False = a standby, or read-only. */
  readonly isWritable: boolean;
  /** Its clock when it answered, milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Reads whether the database is writable, and its time. */
export async function probe(query: Query): Promise<ProbeAnswer> {
  const [row] = await query<{ is_writable: boolean; now_ms: number }>(PROBE, []);
  return { isWritable: row?.is_writable ?? false, nowMs: row?.now_ms ?? 0 };
}

const PROBE: Statement = {
  name: 'probe',
  text: `select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as is_writable,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
};
