/** A module of the bench in a process of its own, to which it talks by messages. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts a module, named by its `import.meta.url`. */
export function startModule(url: string): ChildProcess {
  return fork(fileURLToPath(url), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** Whether this process was started for that module. */
export function isStarted(url: string): boolean {
  return process.send !== undefined && process.argv[1] === fileURLToPath(url);
}

/** Hangs up, which ends the process, and waits until it has ended. */
export async function endModule(child: ChildProcess): Promise<void> {
  if (child.connected) child.disconnect();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
