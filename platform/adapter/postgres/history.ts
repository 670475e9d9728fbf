import type { Query, Statement } from './database.ts';

/** The table that names the history of the cluster that a ledger stands in. */
export function historyTable(schema: string): string {
  return `
-- Of which history of which cluster this ledger is, and since when it has every identifier that was seen.
CREATE TABLE ${schema}.ledger (
  history text NOT NULL,
  complete_since timestamptz NOT NULL
);
`;
}

const HISTORY: Statement = {
  name: 'history',
  text: `SELECT system_identifier || ' ' || timeline_id AS history FROM pg_control_system(), pg_control_checkpoint()`,
};

/**
 * Since when a ledger has every identifier that was seen: since it was made, or since it was restored. A cluster that
 * was restored, or made anew, has another system identifier or timeline than the ledger says. So has a standby after a
 * failover, where that costs no more than an operator's decision about what was lost before.
 */
export async function completeSince(
  query: Query,
  schema: string,
): Promise<{ readonly since: Date; readonly isRestored: boolean }> {
  const [now] = await query<{ history: string }>(HISTORY, []);
  const known = { name: 'ledger', text: `SELECT history, complete_since AS since FROM ${schema}.ledger` };
  const [kept] = await query<{ history: string; since: Date }>(known, []);
  if (kept && kept.history === now?.history) return { since: kept.since, isRestored: false };
  const begin = {
    name: 'begin_ledger',
    text: `WITH old AS (DELETE FROM ${schema}.ledger)
      INSERT INTO ${schema}.ledger VALUES ($1, now()) RETURNING complete_since AS since`,
  };
  const [begun] = await query<{ since: Date }>(begin, [now?.history]);
  return { since: begun?.since ?? new Date(), isRestored: kept !== undefined };
}
