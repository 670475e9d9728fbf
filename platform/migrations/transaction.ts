import type { ClientBase } from 'pg';

/**
 * How long the statements of one transaction wait for locks, together. Everybody who needs the table waits behind one
 * who waits for it, and core waits 2 s at most. Below PostgreSQL's deadlock_timeout of 1 s, so that a migration and not
 * a payment gives up.
 */
const LOCKS_MS = 900;

/** Runs statements in one transaction. Throws when their locks are not free soon, and nothing is done. */
export async function runTogether(
  client: ClientBase,
  statements: readonly string[],
  record: () => Promise<void> | void = () => undefined,
): Promise<void> {
  await client.query('begin; set local statement_timeout = 0');
  try {
    const untilMs = performance.now() + LOCKS_MS;
    for (const text of statements) {
      await client.query(`set local lock_timeout = ${Math.max(1, Math.ceil(untilMs - performance.now()))}`);
      await client.query(text);
    }
    await record();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
