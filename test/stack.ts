/**
 * The whole service, once per test run: the processes of a deployment, with a database of their own. The main process
 * of the run starts it on the first request and lends it to all test processes over loopback.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { removeDataDir } from '../services/quickstart/data-dir.ts';
import { freePort } from '../services/quickstart/ports.ts';
import { type Quickstart, startQuickstart } from '../services/quickstart/quickstart.ts';
import { readSettings } from '../services/quickstart/settings.ts';
import { openShop, type Shop } from '../services/quickstart/shop.ts';
import { createDatabase } from './database.ts';
import { openPrism } from './gateway/prism.ts';

/** The running service, and two merchants to call it as. */
export interface Stack extends Pick<Quickstart, 'file' | 'dataDir'> {
  /** Several captures per hold. */
  readonly shop: Shop;
  /** One capture per hold. */
  readonly single: Shop;
  /** The text of every answer that these shops have received in any test: secrets in them must not be logged. */
  answers(): Promise<string[]>;
}

/** Returns the service; starts it for the first caller. */
export async function useStack(): Promise<Stack> {
  const lender = process.env.TEST_STACK_URL;
  assert(lender !== undefined, 'run the tests with mocha: test/setup.ts lends their service');
  const response = await fetch(lender);
  if (!response.ok) throw new Error(await response.text());
  const { file, dataDir } = (await response.json()) as Pick<Quickstart, 'file' | 'dataDir'>;
  const record = `${dataDir}/answers`;
  const hear = async <T extends { body: unknown }>(answer: Promise<T>) => {
    appendFileSync(record, `${JSON.stringify((await answer).body)}\n`);
    return answer;
  };
  const heard = (shop: Shop): Shop => ({
    ...shop,
    post: (path, body, headers) => hear(shop.post(path, body, headers)),
    get: (path) => hear(shop.get(path)),
  });
  const { origin: baseUrl = file.baseUrl } = (await openPrism(file.baseUrl)) ?? {};
  return {
    file,
    dataDir,
    shop: heard(openShop({ ...file, baseUrl })),
    single: heard(openShop({ ...file, ...file.singleCapture, baseUrl })),
    answers: async () => (await readFile(record, 'utf8')).split('\n'),
  };
}

/** Lends the service over HTTP at the returned address; `stop` ends it if it was started. */
export async function lendStack(): Promise<{ url: string; stop(): Promise<void> }> {
  let stack: ReturnType<typeof startStack> | undefined;
  const server = createServer(async (_request, response) => {
    try {
      stack ??= startStack();
      const { file, dataDir } = await stack;
      response.end(JSON.stringify({ file, dataDir }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await (await stack?.catch(() => undefined))?.stop();
    },
  };
}

async function startStack() {
  const database = await createDatabase();
  const dataDir = await mkdtemp(`${tmpdir()}/holdfast-stack-`);
  // The examples of unknown outcomes wait for the processor as long as core does.
  const environment = {
    ...process.env,
    PROCESSOR_TIMEOUT_MS: '2500',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    REDIS_URL: '',
  };
  const ports: Record<string, string> = {};
  for (const name of ['PORT', 'CORE_PORT', 'CONNECT_PORT']) ports[name] = String(await freePort());
  const reports: string[] = [];
  const settings = readSettings({ ...environment, ...ports });
  const quickstart = await startQuickstart(settings, (line) => reports.push(line), new AbortController().signal);
  const stop = async () => {
    await quickstart.stop();
    await removeDataDir(dataDir);
    await database.drop();
    const restarts = reports.filter((line) => line.includes('starting it again'));
    assert.deepEqual(restarts, [], 'no process of the service may exit during the tests');
  };
  return { file: quickstart.file, dataDir: quickstart.dataDir, stop };
}
