/** Runs the launcher as a user does, with a DATA_DIR of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../services/quickstart/ports.ts';
import type { QuickstartFile } from '../../services/quickstart/quickstart.ts';

/** A running launcher. */
export interface Launched {
  readonly process: ChildProcess;
  /** All output so far. */
  output(): string;
  /** Resolves with the exit code or signal once it has exited and its output is complete. */
  readonly ended: Promise<number | string>;
  /** Waits until the output contains a text. Rejects when the launcher exits first. */
  printed(text: string): Promise<void>;
}

const ENTRY = fileURLToPath(new URL('../../services/quickstart/index.ts', import.meta.url));

/** Starts a launcher: by itself, or by another command. */
export function launch(environment: Record<string, string>, command = [process.execPath, ENTRY]): Launched {
  const inherited = { ...process.env, DATABASE_URL: '', REDIS_URL: '' };
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: { ...inherited, ...environment },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      child.emit('output');
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const printed = async (text: string) => {
    let over = false;
    void ended.then(() => {
      over = true;
      child.emit('output');
    });
    while (!output.includes(text)) {
      if (over) throw new Error(`exited without printing "${text}":\n${output}`);
      await once(child, 'output');
    }
  };
  return { process: child, output: () => output, ended, printed };
}

/** Settings with free ports and a new DATA_DIR. */
export async function launchSettings(dataDir: string): Promise<Record<string, string>> {
  const settings: Record<string, string> = { DATA_DIR: dataDir };
  for (const name of ['PORT', 'CORE_PORT', 'CONNECT_PORT']) settings[name] = String(await freePort());
  return settings;
}

/** Reads the file with which the launcher describes the service to other programs. */
export async function quickstartFile(dataDir: string): Promise<QuickstartFile> {
  return JSON.parse(await readFile(`${dataDir}/quickstart.json`, 'utf8')) as QuickstartFile;
}

/** Finds processes whose command line names a DATA_DIR, or whose working directory is in it. Linux only. */
export async function processesOf(dataDir: string): Promise<{ pid: number; commandLine: string }[]> {
  const found = [];
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const workingIn = await readlink(`/proc/${name}/cwd`).catch(() => '');
    if (commandLine.includes(dataDir) || workingIn.startsWith(dataDir)) found.push({ pid: Number(name), commandLine });
  }
  return found;
}

/** Waits up to 10 s until no process of a DATA_DIR is left. Returns those that remain. */
export async function lastProcessesOf(dataDir: string): Promise<{ pid: number; commandLine: string }[]> {
  for (let waitedMs = 0; ; waitedMs += 25) {
    const left = await processesOf(dataDir);
    if (left.length === 0 || waitedMs >= 10_000) return left;
    await delay(25);
  }
}
