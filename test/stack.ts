/** The whole service, once per test run, for the tests in test/flow: the processes of a deployment, a database of their own. */
import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { removeDataDir } from '../services/quickstart/data-dir.ts';
import { freePort } from '../services/quickstart/port.ts';
import { type Quickstart, startQuickstart } from '../services/quickstart/quickstart.ts';
import { readSettings } from '../services/quickstart/settings.ts';
import { openShop, type Shop } from '../services/quickstart/shop.ts';
import { createDatabase } from './database.ts';

/** The running service, and two merchants to call it as. */
export interface Stack extends Pick<Quickstart, 'file' | 'dataDir'> {
  /** Several captures per hold. */
  readonly shop: Shop;
  /** One capture per hold. */
  readonly single: Shop;
  /** Everything that was answered so far, as text: whatever is secret in it must not be in a log. */
  readonly answers: readonly string[];
  /** Lines of the launcher about processes that ended. */
  readonly reports: readonly string[];
}

let stack: Promise<Stack & { stop(): Promise<void> }> | undefined;

/** The service; starts it for the first who asks. Give a `before` hook 60 s. */
export function useStack(): Promise<Stack> {
  stack ??= startStack();
  return stack;
}

/** Stops the service, if anybody asked for it. */
export async function stopStack(): Promise<void> {
  const running = await stack;
  stack = undefined;
  await running?.stop();
}

async function startStack() {
  const database = await createDatabase();
  const dataDir = await mkdtemp(`${tmpdir()}/holdfast-stack-`);
  const environment = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: database.url, REDIS_URL: '' };
  const ports: Record<string, string> = {};
  for (const name of ['PORT', 'CORE_PORT', 'CONNECT_PORT']) ports[name] = String(await freePort());
  const reports: string[] = [];
  const answers: string[] = [];
  const settings = readSettings({ ...environment, ...ports });
  const quickstart = await startQuickstart(settings, (line) => reports.push(line), new AbortController().signal);
  const { file } = quickstart;
  const stop = async () => {
    await quickstart.stop();
    await removeDataDir(dataDir);
    await database.drop();
    assert.deepEqual(reports, [], 'no process of the service may die during the tests');
  };
  return {
    file,
    dataDir: quickstart.dataDir,
    shop: heard(openShop(file), answers),
    single: heard(openShop({ ...file, ...file.singleCapture }), answers),
    answers,
    reports,
    stop,
  };
}

function heard(shop: Shop, answers: string[]): Shop {
  const hear = async <T extends { body: unknown }>(answer: Promise<T>) => {
    answers.push(JSON.stringify((await answer).body));
    return answer;
  };
  return {
    ...shop,
    post: (path, body, headers) => hear(shop.post(path, body, headers)),
    get: (path) => hear(shop.get(path)),
  };
}
