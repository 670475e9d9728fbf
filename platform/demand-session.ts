import { connectAtStart, type DatabaseClient } from './database-client.ts';

/**
 * Throws an Error of one line when a pooler gives the server's connections to transactions instead of sessions: limits
 * of time and settings of the planner would go to whoever comes next, and prepared statements would not be there.
 */
export async function demandSession(client: DatabaseClient, databaseUrl: string): Promise<void> {
  const first = await backendOf(client);
  // A pooler names a process of its own making to its clients.
  if (first === (client as { readonly processID?: number | null }).processID) return;
  const second = await connectAtStart(databaseUrl);
  try {
    for (let times = 0; times < ASKED; times++) {
      await second.query('begin');
      const shared = [await backendOf(second), await backendOf(client)];
      await second.query('rollback');
      if (shared[0] === first || shared[1] !== first) throw new Error(`DATABASE_URL: ${SHARED}`);
    }
  } finally {
    await second.end();
  }
}

/** In a pool that others use, too, a transaction may get the same connection by chance. */
const ASKED = 10;

const SHARED =
  'leads to a pooler that shares connections between transactions; set pool_mode = session, or connect to PostgreSQL itself';

async function backendOf(client: DatabaseClient): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
}
