/** One process of the service, as a child of the launcher. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { settlesWithin } from '../../platform/settles-within.ts';
import { startFile } from './bundles.ts';

/** The process to start. */
export interface ChildOptions {
  readonly name: string;
  /** Module below the project's root. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Its real path is in the process's command line, by which the next launcher recognizes it. */
  readonly dataDir: string;
}

/** A running process. */
export interface Running {
  /** Resolves with one line that says why it ended. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a process and resolves when it reports ready. It gets a session of its own, so that a terminal's Ctrl-C
 * reaches only the launcher, which stops processes in order; when the launcher dies, the closed IPC channel makes the
 * process stop. Rejects with the process's last line when it ends before it is ready; when the signal aborts, the
 * process is stopped.
 */
export async function startChild(options: ChildOptions, signal: AbortSignal): Promise<Running> {
  const { child, ready, exited } = await spawnChild(options);
  const stop = () => endProcess(child, exited, ['SIGTERM', 'SIGKILL']);
  const abort = () => void stop();
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const readyOrEnded = Promise.race([ready, exited]);
  const isInTime = await settlesWithin(READY_MS, readyOrEnded);
  const fault = isInTime ? await readyOrEnded : `it was not ready within ${READY_MS / 1000} s`;
  signal.removeEventListener('abort', abort);
  if (fault === undefined) return { exited, stop };
  await stop();
  throw new Error(`${options.name} did not start: ${fault}`);
}

/** Runs a process to its end. Rejects with its last line when it fails. */
export async function runChild(options: ChildOptions, signal: AbortSignal): Promise<void> {
  const { child, exited } = await spawnChild(options);
  const abort = () => child.kill('SIGKILL');
  signal.addEventListener('abort', abort);
  const reason = await exited;
  signal.removeEventListener('abort', abort);
  if (child.exitCode !== 0) throw new Error(`${options.name} failed: ${reason}`);
}

/** Allows for a cold start on a slow disk. */
const READY_MS = 60_000;

async function spawnChild({ name, entry, environment, dataDir }: ChildOptions) {
  const logFile = `${dataDir}/logs/${name}.log`;
  const log = await open(logFile, 'a', 0o600);
  const { size } = await log.stat();
  const child = spawn(process.execPath, [startFile(entry), dataDir], {
    env: environment,
    detached: true,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  // Nothing is awaited before these: the process may end at once, an error without a listener is thrown, and a launcher
  // that is killed now must leave the pid.
  const pidFile = `${dataDir}/run/${name}.pid`;
  if (child.pid !== undefined) writeFileSync(pidFile, String(child.pid), { mode: 0o600 });
  const ended = once(child, 'exit').then(howEnded, (error: Error) => error.message);
  const ready = once(child, 'message').then(
    () => undefined,
    () => ended,
  );
  await log.close();
  const exited = ended.then(async (how) => {
    await rm(pidFile, { force: true });
    const line = await lastLine(logFile, size);
    return line === '' ? how : `${how}: ${line}`;
  });
  return { child, ready, exited };
}

/**
 * The last plain line that this run wrote: processes log JSON, but write in plain text why they exit. Empty when the
 * data directory was deleted meanwhile.
 */
async function lastLine(logFile: string, from: number): Promise<string> {
  const log = await readFile(logFile).catch(() => Buffer.of());
  const written = log.subarray(from).toString('utf8').split('\n');
  return written.findLast((line) => /^[^\s{}]/.test(line) && !line.startsWith('Node.js v')) ?? '';
}

/** What a process's event `exit` says, in words. */
export function howEnded([code, killedBy]: (number | string | null)[]): string {
  return killedBy === null ? `exit code ${code}` : `killed by ${killedBy}`;
}

/** Sends a process one signal after the other, ten seconds apart, until it has ended. */
export async function endProcess(
  child: ChildProcess,
  exited: Promise<unknown>,
  signals: readonly NodeJS.Signals[],
): Promise<void> {
  for (const signal of signals) {
    child.kill(signal);
    if (await settlesWithin(STOP_MS, exited)) return;
  }
}

/** Longer than the slowest request that a stopping process finishes. */
const STOP_MS = 10_000;
