/** One process of a deployment, to be frozen, killed and started again. */
import { readFile } from 'node:fs/promises';
import { type ChildOptions, type Running, startChild } from '../../../services/quickstart/child.ts';
import { freeze, signal } from './freeze.ts';

export interface Member {
  readonly name: string;
  /** Stops it with SIGSTOP; answers how to let it go on. */
  freeze(): Promise<() => void>;
  /** Kills it with -9 and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it and waits until it is ready. */
  start(): Promise<void>;
  /** Stops it as a deployment does. */
  stop(): Promise<void>;
}

/** A process that is not started yet. */
export function memberOf(options: ChildOptions): Member {
  const never = new AbortController().signal;
  let running: Running | undefined;
  const pid = async () => Number(await readFile(`${options.dataDir}/run/${options.name}.pid`, 'utf8'));
  return {
    name: options.name,
    freeze: async () => freeze([await pid()]),
    async kill() {
      signal(await pid(), 'SIGKILL');
      await running?.exited;
    },
    async start() {
      running = await startChild(options, never);
    },
    stop: async () => running?.stop(),
  };
}
