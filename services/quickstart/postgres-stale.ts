/** A server that outlived the launcher which started it. */
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Stops the server that still runs on this data, if one does, and waits until it is gone. Its pid comes from postmaster.pid;
 * after a restart of the machine that number may be anybody's, so only a process that names this data is signalled, and
 * otherwise the file is removed, which would keep PostgreSQL from starting.
 */
export async function stopStalePostgres(data: string): Promise<void> {
  const file = `${data}/postmaster.pid`;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return;
  const pid = Number(text.split('\n', 1)[0]);
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 20) {
      if (!(await serves(pid, data))) return rm(file, { force: true });
      if (waitedMs === 0) process.kill(pid, signal);
      await delay(20);
    }
  }
  throw new Error(`process ${pid} holds the data of the embedded PostgreSQL and does not stop`);
}

async function serves(pid: number, data: string): Promise<boolean> {
  const args =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await promisify(execFile)('ps', ['-p', String(pid), '-o', 'args=']).then(
          ({ stdout }) => stdout,
          () => '',
        );
  return args.includes(data);
}
