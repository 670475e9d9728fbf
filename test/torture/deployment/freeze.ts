/** Processes stopped with SIGSTOP. */
import { spawn } from 'node:child_process';

/**
 * Freezes processes and answers how to let them go on. A keeper does so when this process dies meanwhile: a frozen process
 * would hear of nothing, and stay for ever.
 */
export function freeze(pids: readonly number[]): () => void {
  const keeper = spawn('/bin/sh', ['-c', 'read -r line; kill -CONT "$@"', 'holdfast-thaw', ...pids.map(String)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.stdin.on('error', () => undefined);
  for (const pid of pids) signal(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) signal(pid, 'SIGCONT');
    keeper.stdin.end('\n');
  };
}

/** Sends a signal; a process that has ended meanwhile needs none. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
