/** A PostgreSQL that outlived the launcher which started it. */
import { readFile, rm } from 'node:fs/promises';
import { stopStale } from './stale.ts';

/**
 * Stops the server that still runs on this data, if one does: a new one would refuse to start. Its pid comes from
 * postmaster.pid, which is removed, since a reused number in it would also keep PostgreSQL from starting.
 */
export async function stopStalePostgres(data: string): Promise<void> {
  const file = `${data}/postmaster.pid`;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return;
  await stopStale(Number(text.split('\n', 1)[0]), data, ['SIGINT', 'SIGQUIT', 'SIGKILL']);
  await rm(file, { force: true });
}
