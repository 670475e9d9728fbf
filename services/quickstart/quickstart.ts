/** The whole service on one machine: starts the same processes as a deployment, and restarts those that end. */
import { rm } from 'node:fs/promises';
import { type ChildOptions, runChild, startChild } from './child.ts';
import { openDataDir, writePrivateFile } from './data-dir.ts';
import { type Database, openDatabase, openStripeLedger } from './database.ts';
import type { DemoMerchants } from './demo-merchants.ts';
import { addressesOf, type House } from './house.ts';
import { keepPorts } from './ports.ts';
import * as processes from './processes.ts';
import { keepSecrets } from './secrets.ts';
import type { QuickstartSettings } from './settings.ts';
import { stopStaleProcesses } from './stale.ts';
import { supervise } from './supervise.ts';
import { untilKnown } from './until-served.ts';

/** What other programs read from `${DATA_DIR}/quickstart.json`. */
export type QuickstartFile = ReturnType<typeof describe>;

/** A running service. */
export interface Quickstart {
  readonly file: QuickstartFile;
  readonly dataDir: string;
  /** One line for the banner, when the data is kept in an unexpected place. */
  readonly note: string | undefined;
  /** Stops everything, the gateway first and the database last. */
  stop(): Promise<void>;
}

/**
 * Starts everything and resolves when a merchant's call succeeds; reports each process that is ready, and later each
 * that ends and starts again. Rejects with one line when a setting is wrong, a port is taken, the database is away, or
 * DATA_DIR is in use. Then, and when the signal aborts, nothing is left running.
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
  const [ports, secrets] = [await keepPorts(settings, dataDir), await keepSecrets(dataDir)];
  const house = { settings, dataDir, ports, secrets };
  const { merchants, database } = await startProcesses(house, report, started, signal);
  const file = describe(house, merchants);
  for (const { apiKey } of [file, file.singleCapture]) await untilKnown(file.baseUrl, apiKey, signal);
  await writePrivateFile(fileName, `${JSON.stringify(file, null, 2)}\n`);
  started.defer(() => rm(fileName, { force: true }));
  const running = started.move();
  return { file, dataDir, note: database.note, stop: () => running.disposeAsync() };
}

/** Starts independent processes in parallel. `started` stops all that have started, also when one fails. */
async function startProcesses(
  house: House,
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
    const { stop } = await supervise({ name, report, start: (until) => startChild(options, until) }, signal);
    stops.set(name, stop);
    report(`${name} is ready`);
  };
  const coreAndMerchant = async (databaseUrl: string) => {
    // The launcher itself loads what calls core only while core starts.
    const [{ keepDemoMerchants }] = await Promise.all([
      import('./demo-merchants.ts'),
      begin(processes.coreProcess(house, databaseUrl)),
    ]);
    const merchants = await keepDemoMerchants(house, report);
    await begin(processes.merchantProcess(house, merchants));
    return merchants;
  };
  /** The gateway last: one that is ready before core asks for it again with growing pauses. */
  const workerAndGateway = async (databaseUrl: string) => {
    await begin(processes.workerProcess(house, databaseUrl));
    await begin(processes.gatewayProcess(house));
  };
  const stripe = async () => {
    const ledger = await openStripeLedger(house, report, signal);
    stops.set('stripe-ledger', ledger.stop);
    await begin(processes.stripeProcess(house, ledger.url));
  };
  const databaseFirst = async () => {
    const database = await openDatabase(house, report, signal);
    stops.set('database', database.stop);
    report('database is ready');
    await runChild(processes.migrateStep(house, database.url), signal);
    report('database is migrated');
    const besides = [workerAndGateway(database.url), ...(processes.isStripeOn(house) ? [stripe()] : [])];
    const merchants = await together(failed, coreAndMerchant(database.url), besides);
    return { database, merchants };
  };
  return together(failed, databaseFirst(), [begin(processes.sandboxProcess(house))]);
}

const STOP_ORDER = ['gateway', 'worker', 'core', 'sandbox', 'stripe', 'stripe-ledger', 'merchant', 'database'];

/**
 * Waits for all, and returns what the first has started. The first failure aborts the other starts, and is thrown when
 * all of them have ended.
 */
async function together<T>(failed: AbortController, main: Promise<T>, others: readonly Promise<void>[]): Promise<T> {
  const starts = [main, ...others];
  for (const start of starts) start.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(starts);
  failed.signal.throwIfAborted();
  return main;
}

function describe(house: House, { several, single }: DemoMerchants) {
  const { stripe, ...addresses } = addressesOf(house.ports);
  const { serviceToken, operatorToken, metricsToken } = house.secrets;
  return {
    ...addresses,
    serviceToken,
    operatorToken,
    /** Opens `GET /metrics`, and nothing else. */
    metricsToken,
    ...credentialsOf(several),
    singleCapture: credentialsOf(single),
    /** When the adapter to Stripe runs. */
    stripe: processes.isStripeOn(house) ? stripe : undefined,
  };
}

function credentialsOf({ merchantId, apiKey, signingSecret }: DemoMerchants['single']) {
  return { merchantId, apiKey, signingSecret };
}
