/** Cores behind one gateway, where each process and connection can be broken from outside. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import { openChannel } from '../../../platform/grpc-client.ts';
import { ledgersOf, openProcessors } from '../../../services/core/processor/processors.ts';
import { audit } from '../../../services/core/reconciliation/self-audit.ts';
import { migrateDatabase } from '../../../services/core/storage/migrate-database.ts';
import { asOperator } from '../../../services/quickstart/as-operator.ts';
import { openDataDir, removeDataDir } from '../../../services/quickstart/data-dir.ts';
import { addressesOf } from '../../../services/quickstart/house.ts';
import { choosePorts, freeOuterPorts, freePort } from '../../../services/quickstart/ports.ts';
import type { PostgresOptions } from '../../../services/quickstart/postgres.ts';
import { coreProcess, gatewayProcess, sandboxProcess, workerProcess } from '../../../services/quickstart/processes.ts';
import { keepSecrets } from '../../../services/quickstart/secrets.ts';
import { readSettings } from '../../../services/quickstart/settings.ts';
import { openLink } from './link.ts';
import { memberOf } from './member.ts';
import { type PostgresMember, startPostgresMember } from './postgres-member.ts';
import { openReceiver } from './receiver.ts';

/** A merchant with its credentials. */
export interface Merchant {
  readonly merchantId: string;
  readonly apiKey: string;
  readonly signingSecret: string;
  /** False: one capture per hold. */
  readonly severalCaptures: boolean;
}

export type Deployment = Awaited<ReturnType<typeof openDeployment>>;

export interface DeploymentOptions {
  /** By default two. */
  readonly cores?: number;
  /** Where the worker forwards what the relay takes for the merchants; by default nowhere. */
  readonly internalUrl?: string;
  readonly withGatewayBeside?: boolean;
  /** Starts a second sandbox, the processor `other`. */
  readonly withOtherProcessor?: boolean;
  /** More settings of all processes. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder whose code runs but for the sandboxes; by default this tree. */
  readonly tree?: string;
  /** Gives the database its schema; by default this tree's. */
  readonly migrate?: (databaseUrl: string) => Promise<void>;
  /** By default a server of its own. */
  readonly startDatabase?: (options: PostgresOptions) => Promise<DeploymentDatabase>;
}

export interface DeploymentDatabase extends PostgresMember {
  /** The DATABASE_URL of a process; by default `url`. */
  urlOf?(process: string): string;
}

/** Starts everything; `severalCaptures` says for each merchant whether it may capture a hold in parts. */
export async function openDeployment(
  severalCaptures: Readonly<Record<string, boolean>>,
  options: DeploymentOptions = {},
) {
  const directory = await mkdtemp(`${tmpdir()}/holdfast-torture-`);
  const folder = await openDataDir(directory);
  await chmod(directory, 0o711);
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => {
    folder.close();
    await removeDataDir(folder.path);
  });
  const secrets = await keepSecrets(folder.path);
  const other = {
    ports: { SANDBOX_PORT: await freePort(), CHECKOUT_PORT: await freePort() },
    ledgerFile: `${folder.path}/other.sqlite`,
    token: randomBytes(32).toString('base64url'),
    credential: randomBytes(32).toString('base64url'),
  };
  const own = {
    ...SETTINGS,
    ...options.environment,
    ...(options.withOtherProcessor && {
      PROCESSORS: `other=127.0.0.1:${other.ports.SANDBOX_PORT}`,
      PROCESSOR_OTHER_TOKEN: other.token,
      PROCESSOR_OTHER_CREDENTIAL: other.credential,
    }),
    ...(await freeOuterPorts()),
    DATA_DIR: folder.path,
  };
  const settings = readSettings({ ...process.env, ...own });
  const house = { settings, dataDir: folder.path, ports: await choosePorts(settings), secrets };
  const { startDatabase = startPostgresMember } = options;
  const database: DeploymentDatabase = await startDatabase({
    directory: `${folder.path}/postgres`,
    logFile: `${folder.path}/logs/postgres.log`,
    port: house.ports.DATABASE_PORT,
    password: randomBytes(32).toString('base64url'),
    superuserPassword: randomBytes(32).toString('base64url'),
    fast: true,
  });
  opened.defer(async () => {
    await database.stop();
    await database.remove();
  });
  const urlOf = (name: string) => database.urlOf?.(name) ?? database.url;
  const { migrate = migrateDatabase, tree } = options;
  await migrate(database.url);
  const receiver = await openReceiver();
  opened.defer(() => receiver.close());
  const { cores: count = 2 } = options;
  const servers = await Promise.all(
    Array.from({ length: count }, async () => [await freePort(), await freePort()] as const),
  );
  const corePorts = servers.map(([port]) => port);
  const links = await Promise.all(servers.map(([port, linkPort]) => openLink(linkPort, port)));
  opened.defer(async () => void (await Promise.all(links.map((link) => link.close()))));
  const metricsPorts = await Promise.all(servers.map(() => freePort()));
  const cores = await Promise.all(
    corePorts.map(async (CORE_PORT, index) => {
      const ports = { ...house.ports, CORE_PORT, CONNECT_PORT: await freePort() };
      const name = `core-${index + 1}`;
      const core = coreProcess({ ...house, ports }, urlOf(name));
      const environment = { ...core.environment, CORE_METRICS_PORT: String(metricsPorts[index]) };
      return memberOf({ ...core, name, environment }, tree);
    }),
  );
  const at = (ports: readonly number[]) => `ipv4:${ports.map((port) => `127.0.0.1:${port}`)}`;
  const withCores = (child: ReturnType<typeof gatewayProcess>, ports: readonly number[], own?: string) =>
    memberOf({ ...child, environment: { ...child.environment, CORE_URL: at(ports) } }, own);
  const sandbox = withCores(sandboxProcess(house), corePorts);
  const otherProcess = { ...sandboxProcess({ ...house, ports: { ...house.ports, ...other.ports } }), name: 'other' };
  const otherSandbox = withCores(
    {
      ...otherProcess,
      environment: {
        ...otherProcess.environment,
        SANDBOX_LEDGER: other.ledgerFile,
        PROCESSOR_TOKEN: other.token,
        PROCESSOR_CREDENTIAL: other.credential,
      },
    },
    corePorts,
  );
  const worker = memberOf(workerProcess(house, urlOf('worker')), tree);
  const gateway = withCores(
    gatewayProcess(house),
    servers.map(([, linkPort]) => linkPort),
    tree,
  );
  const besidePorts = { ...house.ports, PORT: await freePort() };
  const beside = { ...gatewayProcess({ ...house, ports: besidePorts }), name: 'gateway-2' };
  const start = (...members: readonly ReturnType<typeof memberOf>[]) =>
    Promise.all(
      members.map(async (member) => {
        await member.start();
        opened.defer(async () => void (await member.stop()));
      }),
    );
  await start(sandbox, ...(options.withOtherProcessor ? [otherSandbox] : []), worker, ...cores);
  const operator = { coreUrl: at(corePorts), operatorToken: secrets.operatorToken };
  const urls = { webhookUrl: receiver.url, ...(options.internalUrl && { internalUrl: options.internalUrl }) };
  const merchants = await createMerchants(operator, severalCaptures, urls);
  // A gateway becomes ready once it has all credentials, so the merchants are created first.
  await start(gateway, ...(options.withGatewayBeside ? [withCores(beside, corePorts.slice(1))] : []));
  const pool = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
  pool.on('error', () => undefined);
  opened.defer(() => pool.end());
  const processor = {
    PROCESSORS: [
      { name: 'sandbox', address: `127.0.0.1:${house.ports.SANDBOX_PORT}` },
      ...(options.withOtherProcessor ? [{ name: 'other', address: `127.0.0.1:${other.ports.SANDBOX_PORT}` }] : []),
    ],
    'PROCESSOR_<NAME>_CREDENTIAL': { SANDBOX: secrets.processorCredential, OTHER: other.credential },
  };
  const channelTo = (index: number, token: string) => {
    const address = at(corePorts.slice(index, index + 1));
    return openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 10_000 });
  };
  const running = opened.move();
  return {
    baseUrl: addressesOf(house.ports).baseUrl,
    /** A gateway that uses only the second core, if there is one. */
    besideUrl: addressesOf(besidePorts).baseUrl,
    merchants,
    /** The notifications that the merchants' webhook URL has acknowledged. */
    received: receiver.received,
    /** A channel of a service to one of the cores, not through the links. */
    openCore: (index = 0) => channelTo(index, secrets.serviceToken),
    /** The same as an operator. */
    openAsOperator: (index = 0) => channelTo(index, secrets.operatorToken),
    /** What a process has logged so far. */
    log: (name: string) => readFile(`${folder.path}/logs/${name}.log`, 'utf8'),
    encryptionKeys: secrets.encryptionKeys,
    database,
    cores,
    worker,
    sandbox,
    gateway,
    sql: async <Row extends pg.QueryResultRow>(text: string) => (await pool.query<Row>(text)).rows,
    /** Between gateway and cores. */
    links,
    ledgerFile: `${folder.path}/sandbox.sqlite`,
    otherLedgerFile: other.ledgerFile,
    processor,
    /** Lets a merchant's new holds and OCTs go to one of the processors. */
    move: (merchantId: string, processor: 'sandbox' | 'other') =>
      asOperator(operator, async (client) => {
        const { merchant } = await client.getMerchant({ merchantId });
        const { name = '', contract } = merchant ?? {};
        await client.updateMerchant({ merchantId, name, contract: { ...contract, processor } as never });
      }),
    /** The faults of the books, alone and against the processors'. */
    async audit(most = 10): Promise<string[]> {
      const opened = openProcessors({ ...processor, PROCESSOR_TIMEOUT_MS: 30_000 });
      try {
        const parts = { databaseUrl: database.url, processors: ledgersOf(opened), most, patienceMs: 2_000 };
        const { found } = await audit(parts);
        return found.map((drift) => JSON.stringify(drift));
      } finally {
        opened.close();
      }
    },
    /** Resident memory of a core, in MB. */
    async coreMemoryMb(index: number): Promise<number> {
      const headers = { authorization: `Bearer ${secrets.operatorToken}` };
      const response = await fetch(`http://127.0.0.1:${metricsPorts[index]}/metrics`, { headers });
      const [, bytes] = /^process_resident_memory_bytes (\S+)$/m.exec(await response.text()) ?? [];
      return Math.round(Number(bytes) / 2 ** 20);
    },
    close: () => running.disposeAsync(),
  };
}

/** The gateway's limits are not under test, and an unknown outcome should be found soon. */
const SETTINGS = {
  REST_RATE_PER_SECOND: '1000000',
  PROCESSOR_TIMEOUT_MS: '3000',
  SYNCHRONOUS_STANDBY: 'true',
  DATABASE_URL: '',
  REDIS_URL: '',
  LOG_LEVEL: 'warn',
};

function createMerchants(
  operator: Parameters<typeof asOperator>[0],
  severalCaptures: Readonly<Record<string, boolean>>,
  urls: { readonly webhookUrl: string; readonly internalUrl?: string },
): Promise<ReadonlyMap<string, Merchant>> {
  return asOperator(operator, async (client) => {
    const created = Object.entries(severalCaptures).map(async ([merchantId, allowMultipleCaptures]) => {
      const contract = { currencies: ['EUR'], terminals: ['T1'], allowMultipleCaptures, ...urls };
      const { apiKey, signingSecret } = await client.createMerchant({ merchantId, name: merchantId, contract });
      return [merchantId, { merchantId, apiKey, signingSecret, severalCaptures: allowMultipleCaptures }] as const;
    });
    return new Map(await Promise.all(created));
  });
}
