import { openEventReporter } from '../../platform/adapter/event-reporter.ts';
import { openDatabase } from '../../platform/adapter/postgres/database.ts';
import { openLeases } from '../../platform/adapter/postgres/lease.ts';
import { migrate } from '../../platform/adapter/postgres/migrate.ts';
import { openOutbox } from '../../platform/adapter/postgres/outbox.ts';
import { reportDue } from '../../platform/adapter/report.ts';
import { serveProcessor } from '../../platform/adapter/serve.ts';
import { closeServer, createBoundedServer, listen } from '../../platform/http-server.ts';
import type { Log } from '../../platform/log.ts';
import { runPeriodically } from '../../platform/periodic-job.ts';
import { readServerTls, tlsFiles } from '../../platform/tls.ts';
import { PATIENCE, type Patience } from './api/ask.ts';
import { checkKey, openClient } from './api/client.ts';
import type { Reach } from './crash-points.ts';
import type { Desk } from './desk.ts';
import { STRIPE_SCHEMA } from './ledger/migrations.ts';
import { purgeNotices } from './ledger/notice.ts';
import { serveMetrics } from './metrics.ts';
import { processorMethods } from './rpc/server.ts';
import type { Settings } from './settings.ts';
import { lookAround } from './webhook/looks.ts';
import { dealWithNotices } from './webhook/notices.ts';
import { CLOSING_PATH, receiveWebhooks } from './webhook/receive.ts';

/** A running adapter. */
export interface Adapter {
  /** The processor contract. */
  readonly grpcPort: number;
  /** Stripe's webhooks. */
  readonly webhookPort: number;
  /** Metrics and health; undefined when none are served. */
  readonly metricsPort: number | undefined;
  /** Deals with what Stripe announced, rather than at its time. */
  dealWithNotices(): Promise<void>;
  /** Looks at the payments that are due, rather than at their time. */
  lookAround(): Promise<void>;
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

const GRACE_MS = 10_000;
const NOTICES_EVERY_MS = 2_000;
const REPORTS_EVERY_MS = 1_000;
const LOOKS_EVERY_MS = 1_000;
/** Finding old notices reads all of them. */
const PURGES_EVERY_MS = 60 * 60 * 1000;

/**
 * Starts the adapter: its schema, its gRPC server, Stripe's webhooks and the reports to core. Throws an Error of one line
 * that names the setting that is wrong.
 */
export async function startAdapter(settings: Settings, given: Given): Promise<Adapter> {
  const { log, now = () => new Date(), reach = () => undefined, patience = PATIENCE, leaseMs } = given;
  const { DATABASE_URL: databaseUrl, HOST: host } = settings;
  await using started = new AsyncDisposableStack();
  let metricsPort: number | undefined;
  const tls = readServerTls('STRIPE_TLS', tlsFiles('STRIPE_TLS', settings));
  const core = started.adopt(openEventReporter(settings), ({ close }) => close());
  const { stripe } = started.adopt(openClient(settings), ({ close }) => close());
  if (!(await checkKey(stripe))) log.warn('stripe away');
  await migrate(databaseUrl, STRIPE_SCHEMA);
  const database = started.adopt(openDatabase(databaseUrl), ({ close }) => close());
  const outbox = openOutbox(database.query, STRIPE_SCHEMA.name);
  const runOnce = () => reportDue({ core, outbox, log });
  const reporting = { name: 'report', intervalMs: REPORTS_EVERY_MS, runOnce };
  const reports = started.adopt(runPeriodically(reporting, log), ({ close }) => close());

  const onNotice = () => notices.wake();
  const secrets = settings.STRIPE_WEBHOOK_SECRET.split(',');
  const page = createBoundedServer(receiveWebhooks({ database, webhooks: stripe.webhooks, secrets, log, onNotice }));
  started.defer(() => closeServer(page, GRACE_MS));
  const webhookPort = await listen(page, 'STRIPE_WEBHOOK_PORT', settings.STRIPE_WEBHOOK_PORT, host);
  const closingUrl = `${settings.STRIPE_PUBLIC_URL?.replace(/\/+$/, '') ?? `http://127.0.0.1:${webhookPort}`}${CLOSING_PATH}`;
  if (settings.STRIPE_METRICS_PORT !== undefined) {
    const { STRIPE_METRICS_TOKEN: token, STRIPE_METRICS_PORT: port } = settings;
    if (token === undefined) throw new Error('STRIPE_METRICS_TOKEN: is required with STRIPE_METRICS_PORT');
    const metrics = createBoundedServer(serveMetrics({ database, stripe, token }));
    started.defer(() => closeServer(metrics, GRACE_MS));
    metricsPort = await listen(metrics, 'STRIPE_METRICS_PORT', port, host);
  }
  const leases = openLeases(database, STRIPE_SCHEMA.name, leaseMs);
  const mode = settings.STRIPE_API_KEY.includes('_test_') ? 'test' : 'live';
  const statementSuffixes = settings.STRIPE_STATEMENT_SUFFIXES ?? {};
  const desk: Desk = {
    statementSuffixes,
    database,
    leases,
    stripe,
    mode,
    patience,
    log,
    now,
    reach,
    closingUrl,
    onEvent: reports.wake,
  };
  const dealing = { name: 'notices', intervalMs: NOTICES_EVERY_MS, runOnce: () => dealWithNotices(desk) };
  const notices = started.adopt(runPeriodically(dealing, log), ({ close }) => close());
  const looking = { name: 'looks', intervalMs: LOOKS_EVERY_MS, runOnce: () => lookAround(desk) };
  const looks = started.adopt(runPeriodically(looking, log), ({ close }) => close());
  const purging = { name: 'purge', intervalMs: PURGES_EVERY_MS, runOnce: () => purgeNotices(database.query) };
  started.adopt(runPeriodically(purging, log), ({ close }) => close());
  const address = { setting: 'STRIPE_PORT', port: settings.STRIPE_PORT, host, tls, graceMs: GRACE_MS };
  const served = { methods: processorMethods(desk), log, credential: settings.PROCESSOR_CREDENTIAL, ...address };
  const { port: grpcPort } = started.adopt(await serveProcessor(served), ({ close }) => close());
  log.info('ready', { grpcPort, port: webhookPort });
  const running = started.move();
  return {
    grpcPort,
    webhookPort,
    metricsPort,
    dealWithNotices: notices.runOnce,
    lookAround: looks.runOnce,
    reportDue: reports.runOnce,
    close: () => running.disposeAsync(),
  };
}
