/** Processes stopped with SIGSTOP. */
import { spawn } from 'node:child_process';

/**
 * Freezes processes and returns a function that thaws them. A keeper process does so if this process dies meanwhile: a
 * frozen process would not notice, and stay for ever.
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

/** Sends a signal; ignores a process that has exited. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
