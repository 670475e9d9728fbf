import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { Server as GrpcServer } from '@grpc/grpc-js';
import { createHttpDoor } from '../../platform/http-server.ts';
import { boundHttp2Streams } from '../../platform/http2-limits.ts';
import type { Log } from '../../platform/log.ts';
import { runPeriodically } from '../../platform/periodic-job.ts';
import { type DoorTls, doorCredentials, readChannelTls, readDoorTls, tlsFiles } from '../../platform/tls.ts';
import { PATIENCE, type Patience } from './api/ask.ts';
import { checkKey, openClient } from './api/client.ts';
import type { Reach } from './crash-points.ts';
import type { Desk } from './desk.ts';
import { openDatabase } from './ledger/database.ts';
import { openLeases } from './ledger/lease.ts';
import { migrate } from './ledger/migrate.ts';
import { openReporter } from './report.ts';
import { processorServer } from './rpc/server.ts';
import type { Settings } from './settings.ts';
import { dealWithNotices } from './webhook/notices.ts';
import { CLOSING_PATH, receiveWebhooks } from './webhook/receive.ts';

/** A running adapter. */
export interface Adapter {
  /** The processor contract. */
  readonly grpcPort: number;
  /** Stripe's webhooks. */
  readonly webhookPort: number;
  /** Deals with what Stripe announced, rather than at its time. */
  dealWithNotices(): Promise<void>;
  /** Reports to core what is due now, rather than at its time. */
  reportDue(): Promise<void>;
  /** Lets running calls end, then stops; nothing stays open. */
  close(): Promise<void>;
}

/** What a test gives otherwise. */
export interface Given {
  readonly log: Log;
  readonly now?: () => Date;
  readonly reach?: Reach;
  readonly patience?: Patience;
  readonly leaseMs?: number;
}

const LONGEST_GOODBYE_MS = 10_000;
const NOTICES_EVERY_MS = 2_000;
const REPORTS_EVERY_MS = 1_000;

/**
 * Starts the adapter: its schema, its gRPC door, Stripe's webhooks and the reports to core. Throws an Error of one line
 * that names the setting that is wrong.
 */
export async function startAdapter(settings: Settings, given: Given): Promise<Adapter> {
  const { log, now = () => new Date(), reach = () => undefined, patience = PATIENCE, leaseMs } = given;
  const { DATABASE_URL: databaseUrl, HOST: host } = settings;
  await using started = new AsyncDisposableStack();
  const doorTls = readDoorTls('STRIPE_TLS', tlsFiles('STRIPE_TLS', settings));
  const coreTls = readChannelTls('CORE_TLS', tlsFiles('CORE_TLS', settings));
  const client = started.adopt(openClient(settings), ({ close }) => close());
  const { stripe } = client;
  if (!(await checkKey(stripe))) log.warn('stripe away');
  await migrate(databaseUrl);
  const database = started.adopt(openDatabase(databaseUrl), ({ close }) => close());
  const reporter = started.adopt(
    openReporter({ database, log, coreUrl: settings.CORE_URL, coreTls, token: settings.PROCESSOR_TOKEN }),
    ({ close }) => close(),
  );
  const reporting = { name: 'report', intervalMs: REPORTS_EVERY_MS, runOnce: reporter.reportDue };
  const reports = started.adopt(runPeriodically(reporting, log), ({ close }) => close());
  started.defer(boundHttp2Streams());

  const onNotice = () => notices.wake();
  const page = createHttpDoor(
    receiveWebhooks({
      database,
      webhooks: stripe.webhooks,
      secrets: settings.STRIPE_WEBHOOK_SECRET.split(','),
      log,
      onNotice,
    }),
  );
  started.defer(() => closePage(page));
  const webhookPort = await listen(page, settings.STRIPE_WEBHOOK_PORT, host);
  const closingUrl = `${settings.STRIPE_PUBLIC_URL?.replace(/\/+$/, '') ?? `http://127.0.0.1:${webhookPort}`}${CLOSING_PATH}`;
  const leases = openLeases(database, leaseMs);
  const desk: Desk = { database, leases, stripe, patience, log, now, reach, closingUrl, onEvent: reports.wake };
  const dealing = { name: 'notices', intervalMs: NOTICES_EVERY_MS, runOnce: () => dealWithNotices(desk) };
  const notices = started.adopt(runPeriodically(dealing, log), ({ close }) => close());
  const server = started.adopt(processorServer(desk, settings.PROCESSOR_CREDENTIAL), closeGrpc);
  const grpcPort = await bind(server, settings.STRIPE_PORT, host, doorTls);
  log.info('ready', { grpcPort, port: webhookPort });
  const running = started.move();
  return {
    grpcPort,
    webhookPort,
    dealWithNotices: notices.runOnce,
    reportDue: reports.runOnce,
    close: () => running.disposeAsync(),
  };
}

function listen(server: HttpServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      reject(new Error(`STRIPE_WEBHOOK_PORT: cannot listen on ${host}:${port}`, { cause }));
    };
    server.once('error', fail);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

async function bind(server: GrpcServer, port: number, host: string, tls: DoorTls | undefined): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    return await promisify(server.bindAsync.bind(server))(address, doorCredentials(tls));
  } catch (cause) {
    throw new Error(`STRIPE_PORT: cannot listen on ${address}`, { cause });
  }
}

async function closePage(server: HttpServer): Promise<void> {
  if (!server.listening) return;
  const force = setTimeout(() => server.closeAllConnections(), LONGEST_GOODBYE_MS);
  server.closeIdleConnections();
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(force);
}

async function closeGrpc(server: GrpcServer): Promise<void> {
  const force = setTimeout(() => server.forceShutdown(), LONGEST_GOODBYE_MS);
  await new Promise((resolve) => server.tryShutdown(resolve));
  clearTimeout(force);
}
