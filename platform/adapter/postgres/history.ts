import type { Query } from './database.ts';

/** How far back a ledger can be relied on. */
interface Completeness {
  /** It has every identifier that was seen since then. */
  readonly since: Date;
  /** Why it may lack earlier ones: it was restored, or nobody can know, because the role may not read the history. */
  readonly doubt?: 'restored' | 'history unknown';
}

/**
 * Reads since when a ledger has every identifier that was seen: since it was made, or since it was restored. A cluster
 * that was restored, or made anew, has another system identifier or timeline than the ledger says. So has a standby
 * after a failover, where that costs no more than an operator's decision about what was lost before. A role that may
 * not read them (some operators of PostgreSQL forbid it) cannot tell, so each start counts as a restore.
 */
export async function completeSince(query: Query): Promise<Completeness> {
  const now = await readHistory(query);
  const known = 'SELECT history, complete_since AS since FROM ledger';
  const [kept] = await query<{ history: string; since: Date }>(known);
  if (kept && kept.history === now) return { since: kept.since };
  const begin = `WITH old AS (DELETE FROM ledger)
    INSERT INTO ledger VALUES ($1, now()) RETURNING complete_since AS since`;
  const [{ since } = { since: new Date() }] = await query<{ since: Date }>(begin, [now ?? '']);
  if (now === undefined) return { since, doubt: 'history unknown' };
  return kept ? { since, doubt: 'restored' } : { since };
}

const FORBIDDEN = '42501';

/** The timeline is that of the WAL: what pg_control_checkpoint() says is up to minutes behind after a promotion. */
async function readHistory(query: Query): Promise<string | undefined> {
  const timeline = `('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer`;
  const text = `SELECT system_identifier || ' ' || ${timeline} AS history FROM pg_control_system()`;
  try {
    return (await query<{ history: string }>(text))[0]?.history;
  } catch (error) {
    if ((error as { code?: string }).code === FORBIDDEN) return undefined;
    throw error;
  }
}
