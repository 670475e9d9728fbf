import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './adapter.ts';
import type { Profile } from './profile.ts';

/** An adapter that the kit starts and kills. */
export interface AdapterProcess {
  /** Starts it and waits until it answers. Throws an Error with the end of its standard error when it does not. */
  start(): Promise<void>;
  /** Kills it and all that it started, with SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

const STDERR_LENGTH = 2_000;

/** Prepares a process by the profile; nothing is started yet. */
export function adapterProcess(settings: NonNullable<Profile['process']>, client: Client): AdapterProcess {
  const { command, env, readyWithinMs } = settings;
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const [program = '', ...args] = command;
    const started = spawn(program, args, {
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    // It is in a process group of its own, which a Ctrl-C at the kit does not reach.
    process.once('exit', killNow);
    let stderr = '';
    let failed: Error | undefined;
    started.on('error', (error) => (failed = error));
    started.stderr.on('data', (data) => (stderr = `${stderr}${data}`.slice(-STDERR_LENGTH)));
    const endMs = performance.now() + readyWithinMs;
    while (!(await answers(client))) {
      const gone = failed !== undefined || started.exitCode !== null;
      if (!gone && performance.now() < endMs) {
        await sleep(50);
        continue;
      }
      await kill();
      const why = gone ? 'ended before it answered' : `did not answer within ${readyWithinMs} ms`;
      throw new Error(`the adapter ${why}: ${failed?.message ?? stderr}`);
    }
  }

  function killNow(): boolean {
    const { pid, exitCode, signalCode } = child ?? {};
    if (pid === undefined || exitCode !== null || signalCode !== null) return false;
    return process.kill(-pid, 'SIGKILL');
  }

  async function kill(): Promise<void> {
    process.off('exit', killNow);
    const exited = child && once(child, 'exit');
    if (killNow()) await exited;
  }

  return { start, kill };
}

async function answers(client: Client): Promise<boolean> {
  return client.describe({}, { timeoutMs: 1_000 }).then(
    () => true,
    () => false,
  );
}
