/** A PostgreSQL left behind by a killed launcher. */
import { readFile, rm } from 'node:fs/promises';
import { stopStale } from './stale.ts';

/**
 * Stops the server that still runs on this data, if any: a new one would refuse to start. Takes its pid from postmaster.pid and removes that
 * file, because a reused pid in it would also keep PostgreSQL from starting.
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
