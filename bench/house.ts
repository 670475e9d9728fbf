/**
 * The service for a measurement: the processes of a deployment on a durable embedded PostgreSQL, those that a row
 * needs.
 */
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { asOperator } from '../services/quickstart/as-operator.ts';
import { type ChildOptions, runChild, startChild } from '../services/quickstart/child.ts';
import { openDataDir, removeDataDir } from '../services/quickstart/data-dir.ts';
import { openDatabase } from '../services/quickstart/database.ts';
import { addressesOf, type House as QuickstartHouse } from '../services/quickstart/house.ts';
import { choosePorts, freeOuterPorts } from '../services/quickstart/ports.ts';
import * as processes from '../services/quickstart/processes.ts';
import { keepSecrets } from '../services/quickstart/secrets.ts';
import { readSettings } from '../services/quickstart/settings.ts';
import { type CpuMs, cpuOf, parentOf } from './cpu.ts';

export type House = Awaited<ReturnType<typeof openHouse>>;

/** Limits of the edge are out of the way: what is measured is the service, not its brakes. */
const NO_LIMITS = {
  REST_RATE_PER_SECOND: '1000000',
  REST_IN_FLIGHT: '1000000',
  RELAY_VERIFIED_PER_SECOND: '1000000',
  RELAY_ADDRESS_PER_SECOND: '1000000',
  LOG_LEVEL: 'warn',
};

/** Starts database, sandbox and core. */
export async function openHouse() {
  const dataDir = await mkdtemp(`${tmpdir()}/holdfast-bench-`);
  const own = { ...NO_LIMITS, ...(await freeOuterPorts()), DATA_DIR: dataDir, DATABASE_URL: '' };
  const settings = readSettings({ ...process.env, ...own });
  const folder = await openDataDir(dataDir);
  const signal = new AbortController().signal;
  const [chosen, secrets] = [await choosePorts(settings), await keepSecrets(folder.path)];
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const house: QuickstartHouse = { settings, dataDir: folder.path, ports: chosen, secrets };
  const { url: databaseUrl, stop: stopUnset } = await openDatabase(house, report, signal);
  const adminUrl = superuserUrl(databaseUrl, secrets.superuserPassword);
  // PostgreSQL notes when each transaction was committed, from its next start on.
  await query(adminUrl, 'alter system set track_commit_timestamp = on');
  await stopUnset();
  const { stop: stopDatabase } = await openDatabase(house, report, signal);
  const ending: (() => Promise<void>)[] = [];
  const running = new Map<string, () => Promise<void>>();
  const start = async (options: ChildOptions) => {
    if (!running.has(options.name)) running.set(options.name, (await startChild(options, signal)).stop);
  };
  const stop = async (name: string) => {
    await running.get(name)?.();
    running.delete(name);
  };
  await runChild(processes.migrateStep(house, databaseUrl), signal);
  await start(processes.sandboxProcess(house));
  await start(processes.coreProcess(house, databaseUrl));
  return {
    ...house,
    databaseUrl,
    /** The superuser's, in the same database. */
    adminUrl,
    /** The gateway's. */
    baseUrl: addressesOf(chosen).baseUrl,
    /** Starts one of the processes, if it is not running; it is stopped with the house. */
    start: (name: 'worker' | 'gateway', settings: Readonly<Record<string, string>> = {}) => {
      const child = name === 'worker' ? processes.workerProcess(house, databaseUrl) : processes.gatewayProcess(house);
      return start({ ...child, environment: { ...child.environment, ...settings } });
    },
    stop,
    createMerchant: (urls: { webhookUrl?: string; internalUrl?: string } = {}) => createMerchant(house, urls),
    /** The CPU that each of the running processes has used since it started; of others by name and pid, too. */
    async cpu(others: Readonly<Record<string, number>> = {}): Promise<CpuMs> {
      const pids: Record<string, number> = { ...others, PostgreSQL: await postmasterOf(databaseUrl) };
      for (const name of ['sandbox', 'core', 'worker', 'gateway']) {
        const pid = Number(await readFile(`${folder.path}/run/${name}.pid`, 'utf8').catch(() => 0));
        if (pid > 0) pids[name] = pid;
      }
      return cpuOf(pids);
    },
    /** Runs one statement on the service's database, with a connection of its own. */
    query: <T extends object>(text: string, values?: readonly unknown[]) => query<T>(databaseUrl, text, values),
    /** Does something when the row that is being measured is done. */
    atRowEnd: (act: () => Promise<void>) => void ending.push(act),
    /** Runs these actions, and deletes the open deliveries, with which the next row's worker would begin. */
    async endRow(): Promise<void> {
      for (const act of ending.splice(0)) await act();
      await query(databaseUrl, 'truncate delivery, delivery_attempt');
    },
    async close(): Promise<void> {
      for (const name of ['gateway', 'worker', 'core', 'sandbox']) await stop(name);
      await stopDatabase();
      folder.close();
      await removeDataDir(dataDir);
    },
  };
}

function superuserUrl(databaseUrl: string, password: string): string {
  const url = new URL(databaseUrl);
  url.username = 'postgres';
  url.password = password;
  return url.href;
}

/** The server's first process: the parent of the one that serves a connection. */
async function postmasterOf(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return await parentOf(rows[0]?.pid ?? 0);
  } finally {
    await client.end();
  }
}

/** Runs one statement, or several without values, with a connection of its own. */
export async function query<T extends object>(
  connectionString: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<T>(text, values.length > 0 ? [...values] : undefined)).rows;
  } finally {
    await client.end();
  }
}

/** Merchants so far, for their names. */
let created = 0;

async function createMerchant(house: QuickstartHouse, urls: { webhookUrl?: string; internalUrl?: string }) {
  const operator = { coreUrl: addressesOf(house.ports).coreUrl, operatorToken: house.secrets.operatorToken };
  const merchantId = `bench${++created}`;
  const contract = { allowMultipleCaptures: true, currencies: ['EUR'], terminals: ['t1'], ...urls };
  const { apiKey, signingSecret } = await asOperator(operator, (merchants) =>
    merchants.createMerchant({ merchantId, name: merchantId, contract }),
  );
  return { merchantId, apiKey, signingSecret };
}
