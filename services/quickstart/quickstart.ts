/** The whole service on one machine: the very processes that a deployment starts, started and kept running. */
import { rm } from 'node:fs/promises';
import { type ChildOptions, runChild, startChild } from './child.ts';
import { openDataDir } from './data-dir.ts';
import { type Database, openDatabase } from './database.ts';
import { type DemoMerchants, keepDemoMerchants } from './demo-merchants.ts';
import { choosePorts } from './ports.ts';
import { writePrivateFile } from './private-file.ts';
import * as processes from './processes.ts';
import { keepSecrets } from './secrets.ts';
import type { QuickstartSettings } from './settings.ts';
import { stopStaleProcesses } from './stale.ts';
import { supervise } from './supervise.ts';
import { untilServed } from './until-served.ts';

/** What other programs read from `${DATA_DIR}/quickstart.json`. */
export interface QuickstartFile {
  readonly baseUrl: string;
  /** grpc-js target, host:port. */
  readonly coreUrl: string;
  readonly connectUrl: string;
  readonly consoleUrl: string;
  readonly demoMerchantUrl: string;
  readonly serviceToken: string;
  readonly operatorToken: string;
  readonly merchantId: string;
  readonly apiKey: string;
  readonly signingSecret: string;
  readonly singleCapture: { readonly merchantId: string; readonly apiKey: string; readonly signingSecret: string };
}

/** A running service. */
export interface Quickstart {
  readonly file: QuickstartFile;
  readonly dataDir: string;
  /** One line for people about a place that they would not look for. */
  readonly note: string | undefined;
  /** Stops everything, the edge first and the database last. */
  stop(): Promise<void>;
}

/**
 * Starts everything and answers once a merchant's call gets through. Rejects with one line when a setting is wrong, a port is
 * taken, the database is away, or DATA_DIR is in use; nothing is left running then, nor when the signal aborts.
 */
export async function startQuickstart(
  settings: QuickstartSettings,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<Quickstart> {
  await using started = new AsyncDisposableStack();
  const folder = await openDataDir(settings.DATA_DIR);
  started.defer(() => folder.close());
  const dataDir = folder.path;
  const fileName = `${dataDir}/quickstart.json`;
  await rm(fileName, { force: true });
  await stopStaleProcesses(dataDir);
  const [ports, secrets] = [await choosePorts(settings), await keepSecrets(dataDir)];
  const house = { settings, dataDir, ports, secrets };
  const { merchants, database } = await startProcesses(house, report, started, signal);
  const file = describe(house, merchants);
  await untilServed(file, signal);
  await writePrivateFile(fileName, `${JSON.stringify(file, null, 2)}\n`);
  started.defer(() => rm(fileName, { force: true }));
  const running = started.move();
  return { file, dataDir, note: database.note, stop: () => running.disposeAsync() };
}

/** Starts beside each other what does not need each other. Whatever fails, all that started is left to be stopped. */
async function startProcesses(
  house: processes.House,
  report: (line: string) => void,
  started: AsyncDisposableStack,
  stopped: AbortSignal,
): Promise<{ database: Database; merchants: DemoMerchants }> {
  const stops = new Map<string, () => Promise<void>>();
  started.defer(async () => {
    for (const name of STOP_ORDER) await stops.get(name)?.();
  });
  const failed = new AbortController();
  const signal = AbortSignal.any([stopped, failed.signal]);
  const begin = async (options: ChildOptions) => {
    const { name } = options;
    stops.set(name, await supervise({ name, report, start: (until) => startChild(options, until) }, signal));
  };
  const coreAndMerchant = async (databaseUrl: string) => {
    await begin(processes.coreProcess(house, databaseUrl));
    const merchants = await keepDemoMerchants(house);
    await begin(processes.merchantProcess(house, merchants));
    return merchants;
  };
  const databaseFirst = async () => {
    const database = await openDatabase(house, report, signal);
    stops.set('database', database.stop);
    await runChild(processes.migrateStep(house, database.url), signal);
    // The gateway not sooner: it would look for core in vain, and then ever less often.
    const besides = [begin(processes.workerProcess(house, database.url)), begin(processes.gatewayProcess(house))];
    const [merchants] = await together([coreAndMerchant(database.url), ...besides], failed);
    return { database, merchants };
  };
  const [result] = await together([databaseFirst(), begin(processes.sandboxProcess(house))], failed);
  return result;
}

const STOP_ORDER = ['gateway', 'worker', 'core', 'sandbox', 'merchant', 'database'];

/** Waits for all. The first failure ends the other starts, and none goes on behind the back of whoever stops the rest. */
async function together<T extends readonly unknown[]>(
  starts: { [I in keyof T]: Promise<T[I]> },
  failed: AbortController,
): Promise<T> {
  const results = await Promise.allSettled(
    starts.map((start) =>
      start.catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
    ),
  );
  failed.signal.throwIfAborted();
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}

function describe({ ports, secrets }: processes.House, { several, single }: DemoMerchants): QuickstartFile {
  const baseUrl = processes.baseUrl(ports);
  return {
    baseUrl,
    coreUrl: processes.coreUrl(ports),
    connectUrl: `http://127.0.0.1:${ports.CONNECT_PORT}`,
    consoleUrl: `${baseUrl}/console`,
    demoMerchantUrl: processes.demoMerchantUrl(ports),
    serviceToken: secrets.serviceToken,
    operatorToken: secrets.operatorToken,
    ...several,
    singleCapture: single,
  };
}
