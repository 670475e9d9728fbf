/** A launcher as a person starts it, with its own DATA_DIR, for the tests of what happens to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../services/quickstart/port.ts';
import type { QuickstartFile } from '../../services/quickstart/quickstart.ts';

/** A launcher. */
export interface Launched {
  readonly process: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** Settles when it has ended and its output is complete, with the exit code or the signal. */
  readonly ended: Promise<number | string>;
  /** Waits until it printed that text. Rejects when it ends before. */
  printed(text: string): Promise<void>;
}

const ENTRY = fileURLToPath(new URL('../../services/quickstart/index.ts', import.meta.url));

/** Starts one. */
export function launch(environment: Record<string, string>): Launched {
  const inherited = { ...process.env, DATABASE_URL: '', REDIS_URL: '' };
  const child = spawn(process.execPath, [ENTRY], {
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
      if (over) throw new Error(`ended without printing "${text}":\n${output}`);
      await once(child, 'output');
    }
  };
  return { process: child, output: () => output, ended, printed };
}

/** Free outer ports and a DATA_DIR, as settings. */
export async function launchSettings(dataDir: string): Promise<Record<string, string>> {
  const settings: Record<string, string> = { DATA_DIR: dataDir };
  for (const name of ['PORT', 'CORE_PORT', 'CONNECT_PORT']) settings[name] = String(await freePort());
  return settings;
}

/** What the launcher tells other programs. */
export async function quickstartFile(dataDir: string): Promise<QuickstartFile> {
  return JSON.parse(await readFile(`${dataDir}/quickstart.json`, 'utf8')) as QuickstartFile;
}

/** Processes whose command line names a DATA_DIR, or that work in it. Linux only. */
export async function processesOf(dataDir: string): Promise<{ pid: number; commandLine: string }[]> {
  const found = [];
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const workingIn = await readlink(`/proc/${name}/cwd`).catch(() => '');
    if (commandLine.includes(dataDir) || workingIn.startsWith(dataDir)) found.push({ pid: Number(name), commandLine });
  }
  return found;
}

/** Waits until no process of a DATA_DIR is left, for 10 s. Answers those that still are. */
export async function lastProcessesOf(dataDir: string): Promise<{ pid: number; commandLine: string }[]> {
  for (let waitedMs = 0; ; waitedMs += 25) {
    const left = await processesOf(dataDir);
    if (left.length === 0 || waitedMs >= 10_000) return left;
    await delay(25);
  }
}
