/** Runs several of each process of a deployment on one database; each can be started, stopped and restarted. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { ROOT } from '../../.ci/sources.ts';
import { openChannel } from '../../platform/grpc-client.ts';
import { channelSecurity } from '../../platform/tls.ts';
import { MerchantService } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { inSettings } from '../../services/core/processor/processor-settings.ts';
import { startFile } from '../../services/quickstart/bundles.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { createMigratedDatabase } from '../database.ts';
import { serveLocally } from '../local-server.ts';
import { openOracle } from '../services/sandbox/oracle.ts';

const token = () => randomBytes(24).toString('base64url');

/** A running process; `log` contains its lines so far. */
export interface Member {
  readonly name: string;
  readonly log: string[];
  /** Stops it with SIGTERM and waits for its exit. Throws when it exits with an error. */
  stop(): Promise<void>;
  /** Starts it, and waits until it is ready. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** The process while it runs. */
  pid(): number;
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a notification's body, as its test expects it.
  readonly body: any;
}

export interface FleetOptions {
  readonly cores?: number;
  readonly gateways?: number;
  readonly workers?: number;
  /** Names of the sandboxes, as in PROCESSORS; by default one without a name. */
  readonly sandboxes?: readonly string[];
  /** Addresses of other processors, by name, beside `sandboxes`. Their secrets end in the numbers that follow. */
  readonly others?: Readonly<Record<string, string>>;
  /** Settings for all processes. */
  readonly environment?: Record<string, string>;
}

export type Fleet = Awaited<ReturnType<typeof openFleet>>;

/** Starts a fleet with one merchant, notified through the first gateway's relay and received here. */
export async function openFleet(options: FleetOptions = {}) {
  const {
    cores = 1,
    gateways = 1,
    workers = 1,
    sandboxes: names = ['sandbox'],
    environment = {},
    others = {},
  } = options;
  const database = await createMigratedDatabase();
  const directory = await mkdtemp(`${tmpdir()}/holdfast-fleet-`);
  const secrets = { gateway: token(), service: token(), operator: token(), processor: token(), credential: token() };
  const received: Received[] = [];
  const receiver = await receive(received);
  const secretsOf = (name: string | undefined, index: number) => {
    const prefix = name === undefined ? 'PROCESSOR' : `PROCESSOR_${inSettings(name)}`;
    return [
      [`${prefix}_CREDENTIAL`, `${secrets.credential}${index}`],
      [`${prefix}_TOKEN`, `${secrets.processor}${index}`],
    ];
  };
  const corePorts = await ports(cores);
  const gatewayPorts = await ports(gateways);
  const sandboxPorts = await ports(names.length);
  const coreUrl =
    corePorts.length === 1 ? `127.0.0.1:${corePorts[0]}` : `ipv4:${corePorts.map((port) => `127.0.0.1:${port}`)}`;
  const common = { LOG_LEVEL: 'info', ...environment, HOST: '127.0.0.1', OPERATOR_TOKEN: secrets.operator };
  const ofCore = {
    ...common,
    DATABASE_URL: database.url,
    ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    ...(options.sandboxes
      ? {
          PROCESSORS: [
            ...names.map((name, index) => `${name}=127.0.0.1:${sandboxPorts[index]}`),
            ...Object.entries(others).map(([name, address]) => `${name}=${address}`),
          ].join(','),
        }
      : { PROCESSOR_URL: `127.0.0.1:${sandboxPorts[0]}` }),
    ...Object.fromEntries(
      [...names, ...Object.keys(others)].flatMap((name, index) => secretsOf(options.sandboxes && name, index)),
    ),
  };
  const metricsPorts: number[] = [];
  const metricsPort = async () => {
    const port = await freePort();
    metricsPorts.push(port);
    return String(port);
  };
  const ledgerOf = (name: string) => `${directory}/${name}.sqlite`;
  const sandboxes = names.map((name, index) =>
    memberOf(name, 'services/sandbox/index.ts', {
      ...common,
      SANDBOX_PORT: String(sandboxPorts[index]),
      CHECKOUT_PORT: '0',
      SANDBOX_LEDGER: ledgerOf(name),
      CORE_URL: coreUrl,
      PROCESSOR_TOKEN: `${secrets.processor}${index}`,
      PROCESSOR_CREDENTIAL: `${secrets.credential}${index}`,
    }),
  );
  const coreMembers = await Promise.all(
    corePorts.map(async (port, index) =>
      memberOf(`core-${index + 1}`, 'services/core/index.ts', {
        ...ofCore,
        CORE_PORT: String(port),
        CONNECT_PORT: String(await freePort()),
        CORE_METRICS_PORT: await metricsPort(),
        GATEWAY_TOKEN: secrets.gateway,
        SERVICE_TOKEN: secrets.service,
      }),
    ),
  );
  const workerMembers = await Promise.all(
    Array.from({ length: workers }, async (_, index) =>
      memberOf(`worker-${index + 1}`, 'services/core/worker.ts', {
        ...ofCore,
        WORKER_METRICS_PORT: await metricsPort(),
        WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
        INTERNAL_ALLOWED_CIDRS: '127.0.0.0/8',
      }),
    ),
  );
  const gatewayMembers = gatewayPorts.map((port, index) =>
    memberOf(`gateway-${index + 1}`, 'gateway/index.ts', {
      REST_RATE_PER_SECOND: '1000000',
      ...common,
      PORT: String(port),
      CORE_URL: coreUrl,
      GATEWAY_TOKEN: secrets.gateway,
    }),
  );
  const early = [...sandboxes, ...coreMembers, ...workerMembers];
  const started = await Promise.allSettled(early.map((each) => each.start()));
  const failed = started.find((each) => each.status === 'rejected');
  if (failed) {
    // Members that did start would keep the tests from ending.
    const running = early.filter((_, index) => started[index]?.status === 'fulfilled');
    await Promise.all(running.map((each) => each.stop()));
    await receiver.close();
    throw failed.reason;
  }
  const origins = gatewayPorts.map((port) => `http://127.0.0.1:${port}`);
  const { apiKey } = await createMerchant(coreUrl, secrets.operator, origins[0] as string, receiver.url);
  // A gateway becomes ready once it has all credentials, so the merchant is created first.
  await Promise.all(gatewayMembers.map((each) => each.start()));
  const oracles = new Map(names.map((name) => [name, openOracle(ledgerOf(name))]));
  return {
    origins,
    apiKey,
    coreUrl,
    secrets,
    received,
    /** Where notifications are received. */
    receiverUrl: receiver.url,
    /** The ledger of a sandbox, by default the first. */
    oracle: (name = names[0] as string) => oracles.get(name) ?? assert.fail(`no sandbox is called ${name}`),
    sandboxes,
    /** Core's settings for processors. */
    processors: {
      ...(options.sandboxes && {
        PROCESSORS: names.map((name, index) => ({ name, address: `127.0.0.1:${sandboxPorts[index]}` })),
      }),
      PROCESSOR_CREDENTIAL: `${secrets.credential}0`,
      'PROCESSOR_<NAME>_CREDENTIAL': Object.fromEntries(
        names.map((name, index) => [inSettings(name), `${secrets.credential}${index}`]),
      ),
    },
    databaseUrl: database.url,
    metricsUrls: [...metricsPorts.map((port) => `http://127.0.0.1:${port}/metrics`), `${origins[0]}/metrics`],
    cores: coreMembers,
    workers: workerMembers,
    gateways: gatewayMembers,
    async close() {
      for (const oracle of oracles.values()) oracle.close();
      await Promise.all([...gatewayMembers, ...workerMembers, ...coreMembers].map((each) => each.stop()));
      await Promise.all(sandboxes.map((each) => each.stop()));
      await receiver.close();
      await rm(directory, { recursive: true });
      await database.drop();
    },
  };
}

async function ports(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await freePort());
  return [...found];
}

async function createMerchant(address: string, operatorToken: string, webhookUrl: string, internalUrl: string) {
  const channel = openChannel({ address, token: operatorToken, timeoutMs: 10_000, ...channelSecurity(undefined) });
  try {
    return await channel.client(MerchantService).createMerchant({
      merchantId: 'acme',
      name: 'Acme',
      contract: {
        currencies: ['EUR'],
        terminals: ['T1'],
        allowMultipleCaptures: true,
        allowOct: true,
        webhookUrl,
        internalUrl,
      },
    });
  } finally {
    channel.close();
  }
}

function receive(received: Received[]) {
  return serveLocally(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
    response.end();
  });
}

function memberOf(name: string, entry: string, environment: Record<string, string>): Member {
  const log: string[] = [];
  let child: ChildProcess | undefined;
  const ended = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  };
  return {
    name,
    log,
    async start() {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      child = spawn(process.execPath, [startFile(entry)], {
        cwd: ROOT,
        env: { PATH, NODE_COMPILE_CACHE, ...environment },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => log.push(...text.split('\n').filter(Boolean)));
      }
      const message = once(child, 'message').then(() => undefined);
      const code = await Promise.race([message, once(child, 'exit').then(([exitCode]) => exitCode)]);
      assert.equal(code, undefined, `${name} did not start: ${log.at(-1)}`);
    },
    async stop() {
      await ended('SIGTERM');
      assert.equal(child?.exitCode ?? 0, 0, `${name} exited with an error: ${log.at(-1)}`);
    },
    kill: () => ended('SIGKILL'),
    pid: () => child?.pid ?? assert.fail(`${name} is not running`),
  };
}
