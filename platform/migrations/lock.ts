import { setTimeout as delay } from 'node:timers/promises';
import { connectAtStart, type DatabaseClient } from '../database-client.ts';

/** The right to migrate, for as long as it is not disposed. */
export interface MigrationLock extends AsyncDisposable {
  /** The server's process that holds it. */
  readonly pid: number;
}

/**
 * Waits until this process alone migrates. A transaction holds the lock, not a session: a pooler gives the connection of
 * a session to others, and its lock with it. The transaction is idle and has no snapshot, so nothing waits for it.
 */
export async function takeMigrationLock(
  databaseUrl: string,
  key: number,
  say: (line: string) => void,
): Promise<MigrationLock> {
  const client = await connectAtStart(databaseUrl);
  try {
    for (let tries = 1; ; tries++) {
      await client.query('begin; set local idle_in_transaction_session_timeout = 0');
      // Without parameters, because a statement that has some keeps its snapshot until the next one.
      const { rows } = await client.query<{ taken: boolean; pid: number }>(
        `select pg_try_advisory_xact_lock(${key}) as taken, pg_backend_pid() as pid`,
      );
      const { taken = false, pid = 0 } = rows[0] ?? {};
      if (taken) return { pid, [Symbol.asyncDispose]: () => client.end() };
      await client.query('rollback');
      if (tries === 1) say(`waits for another migration${await holderOf(client, key)}`);
      await delay(RETRY_MS);
    }
  } catch (error) {
    await client.end();
    throw error;
  }
}

const RETRY_MS = 250;

/** Names the server's process that holds the lock; a release before 1.1.0 leaves it to the connection of a pooler. */
async function holderOf(client: DatabaseClient, key: number): Promise<string> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_locks where locktype = 'advisory' and granted and objid = $1::bigint::oid
      and database = (select oid from pg_database where datname = current_database())`,
    [key],
  );
  return rows[0] ? `: process ${rows[0].pid} of the server holds the lock (pg_stat_activity shows what it is)` : '';
}
