/** Processes left behind by a killed launcher. */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Signals a process until it has ended: the first signal at once, each further one after five seconds. After a restart
 * of the machine the pid may belong to another program, so it signals only a process whose command line contains the
 * mark.
 */
async function stopStale(pid: number, mark: string, signals: readonly NodeJS.Signals[]): Promise<void> {
  for (const signal of signals) {
    for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 20) {
      if (!(await isMarked(pid, mark))) return;
      if (waitedMs === 0) signalIfThere(pid, signal);
      await delay(20);
    }
  }
  throw new Error(`process ${pid} was left by an earlier start and does not stop`);
}

/**
 * Waits for the processes that a killed launcher left in a DATA_DIR, which stop by themselves, and then signals them.
 */
export async function stopStaleProcesses(dataDir: string): Promise<void> {
  const folder = `${dataDir}/run`;
  const files = (await readdir(folder)).filter((name) => name.endsWith('.pid'));
  await Promise.all(
    files.map(async (file) => {
      const pid = Number(await readFile(`${folder}/${file}`, 'utf8'));
      await stopStale(pid, dataDir, ['SIGTERM', 'SIGKILL']);
      await rm(`${folder}/${file}`);
    }),
  );
}

/**
 * Stops the server that still runs on this data, if any: a new one would refuse to start. Takes its pid from
 * postmaster.pid and removes that file, because a reused pid in it would also keep PostgreSQL from starting.
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

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  const commandLine =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await promisify(execFile)('ps', ['-p', String(pid), '-o', 'args=']).then(
          ({ stdout }) => stdout,
          () => '',
        );
  return commandLine.includes(mark);
}
