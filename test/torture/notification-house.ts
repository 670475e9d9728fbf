/**
 * Core, worker and gateway as the launcher starts them, on a PostgreSQL of their own; each can be killed, and the
 * database stopped.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import { openChannel } from '../../platform/grpc-client.ts';
import { MerchantService } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { migrateDatabase } from '../../services/core/storage/migrate-database.ts';
import { type ChildOptions, type Running, startChild } from '../../services/quickstart/child.ts';
import { openDataDir, removeDataDir } from '../../services/quickstart/data-dir.ts';
import { addressesOf } from '../../services/quickstart/house.ts';
import { choosePorts, freeOuterPorts } from '../../services/quickstart/ports.ts';
import { startPostgres } from '../../services/quickstart/postgres.ts';
import { coreProcess, gatewayProcess, workerProcess } from '../../services/quickstart/processes.ts';
import { keepSecrets } from '../../services/quickstart/secrets.ts';
import { readSettings } from '../../services/quickstart/settings.ts';

/** The processes that are killed. */
export type Name = 'gateway' | 'core' | 'worker';
export type NotificationHouse = Awaited<ReturnType<typeof openNotificationHouse>>;

/** Opens a house whose one merchant has its internal endpoint at `internalUrl`. */
export async function openNotificationHouse(internalUrl: string) {
  const directory = await mkdtemp(`${tmpdir()}/holdfast-torture-`);
  const folder = await openDataDir(directory);
  await chmod(directory, 0o711);
  const secrets = await keepSecrets(folder.path);
  const own = { ...LIMITS, ...(await freeOuterPorts()), DATA_DIR: folder.path, REDIS_URL: '' };
  const settings = readSettings({ ...process.env, ...own });
  const house = { settings, dataDir: folder.path, ports: await choosePorts(settings), secrets };
  const server = {
    directory: `${folder.path}/postgres`,
    logFile: `${folder.path}/logs/postgres.log`,
    port: house.ports.DATABASE_PORT,
    password: secrets.databasePassword,
    superuserPassword: secrets.superuserPassword,
    fast: true,
  };
  let postgres = await startPostgres(server);
  const { url } = postgres;
  await migrateDatabase(url);
  const options: Record<Name, ChildOptions> = {
    core: coreProcess(house, url),
    worker: workerProcess(house, url),
    gateway: gatewayProcess(house),
  };
  const never = new AbortController().signal;
  const running = new Map<Name, Running>();
  for (const name of ['core', 'worker', 'gateway'] as const) running.set(name, await startChild(options[name], never));
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  const sql = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows;

  return {
    baseUrl: addressesOf(house.ports).baseUrl,
    merchant: await createMerchant(addressesOf(house.ports).coreUrl, secrets.operatorToken, internalUrl),
    sql,
    /** Kills a process with -9, waits for its exit, runs `meanwhile`, and restarts it. */
    async kill(name: Name, meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
      const pid = Number(await readFile(`${folder.path}/run/${name}.pid`, 'utf8'));
      process.kill(pid, 'SIGKILL');
      assert.equal(await running.get(name)?.exited, 'killed by SIGKILL', `the end of ${name}`);
      await meanwhile();
      running.set(name, await startChild(options[name], never));
    },
    /** Stops the database, runs something without it, and restarts it. No process may exit because of it. */
    async withoutDatabase(act: () => Promise<unknown>): Promise<void> {
      await postgres.stop();
      await act();
      postgres = await startPostgres(server);
    },
    /** What the processes have logged so far. */
    log: (name: Name) => readFile(`${folder.path}/logs/${name}.log`, 'utf8'),
    async close(): Promise<void> {
      for (const name of ['gateway', 'worker', 'core'] as const) await running.get(name)?.stop();
      await pool.end();
      await postgres.stop();
      folder.close();
      await removeDataDir(folder.path);
    },
  };
}

/** The limits are not under test. */
const LIMITS = {
  RELAY_VERIFIED_PER_SECOND: '100000',
  RELAY_ADDRESS_PER_SECOND: '100000',
  DATABASE_URL: '',
  LOG_LEVEL: 'warn',
};

async function createMerchant(address: string, token: string, internalUrl: string) {
  const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 10_000 });
  try {
    const contract = { currencies: ['EUR'], terminals: ['T1'], internalUrl };
    const merchant = { merchantId: 'acme', name: 'Acme', contract };
    const { signingSecret } = await channel.client(MerchantService).createMerchant(merchant);
    return { merchantId: 'acme', signingSecret };
  } finally {
    channel.close();
  }
}
