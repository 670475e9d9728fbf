/** A migrated database on a server of its own, for a moment. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { migrateDatabase } from '../services/core/migrate-database.ts';
import { freePort } from '../services/quickstart/port.ts';
import { removePostgres, startPostgres } from '../services/quickstart/postgres.ts';

/** Runs something against the URL of a freshly migrated database, and leaves nothing behind. */
export async function withMigratedDatabase<T>(run: (databaseUrl: string) => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(`${tmpdir()}/holdfast-check-`);
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  // Run by root, the server is another user, who must be able to pass.
  await chmod(directory, 0o711);
  const postgres = await startPostgres({
    directory: `${directory}/postgres`,
    logFile: `${directory}/postgres.log`,
    port: await freePort(),
    password: randomBytes(32).toString('base64url'),
    fast: true,
  });
  stack.defer(async () => {
    await postgres.stop();
    await removePostgres(postgres.home);
  });
  await migrateDatabase(postgres.url);
  return await run(postgres.url);
}
