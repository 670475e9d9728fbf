/**
 * `npm run demo`: starts the service, plays the main job through its public interfaces, and stops. Exits 0 only if
 * every step was seen.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { removeDataDir } from './data-dir.ts';
import { playDemo } from './demo-story.ts';
import { freeOuterPorts } from './ports.ts';
import { startQuickstart } from './quickstart.ts';
import { readSettings } from './settings.ts';

/** Time limit of the whole demo, including a cold start. */
const LIMIT_MS = 120_000;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => interrupted.abort(new Error(signal)));
const limit = AbortSignal.timeout(LIMIT_MS);
const stopped = AbortSignal.any([interrupted.signal, limit]);

try {
  await demonstrate();
  print('\nAll of it was seen.');
} catch (error) {
  const reason = limit.aborted ? `not finished within ${LIMIT_MS / 1000} s` : (error as Error).message;
  process.stderr.write(`\nholdfast demo: ${reason}\n`);
  process.exitCode = 1;
}

async function demonstrate(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  // A folder of its own, unless DATABASE_URL is set: a database's merchants belong to the keys of one DATA_DIR.
  const isGiven = process.env.DATA_DIR || process.env.DATABASE_URL;
  const ownFolder = isGiven ? undefined : await mkdtemp(`${tmpdir()}/holdfast-demo-`);
  if (ownFolder !== undefined) stack.defer(() => removeDataDir(ownFolder));
  print('Holdfast starts PostgreSQL, core, worker, gateway, the sandbox processor and a demo merchant.');
  const startedMs = performance.now();
  const quickstart = await startQuickstart(readSettings(await environment(ownFolder)), print, stopped);
  stack.defer(() => quickstart.stop());
  print(`Ready after ${((performance.now() - startedMs) / 1000).toFixed(1)} s at ${quickstart.file.baseUrl}.`);
  const aborted = new Promise<never>((_, reject) => stopped.addEventListener('abort', () => reject(stopped.reason)));
  await Promise.race([playDemo(quickstart.file, print), aborted]);
}

/** Free ports unless set, so that it works beside a running `npm start`. */
async function environment(ownFolder: string | undefined): Promise<NodeJS.ProcessEnv> {
  return { ...(await freeOuterPorts()), ...process.env, ...(ownFolder === undefined ? {} : { DATA_DIR: ownFolder }) };
}
