import { openEventReporter } from '../../platform/adapter/event-reporter.ts';
import { openDatabase } from '../../platform/adapter/postgres/database.ts';
import { completeSince } from '../../platform/adapter/postgres/history.ts';
import { migrate } from '../../platform/adapter/postgres/migrate.ts';
import { openOutbox } from '../../platform/adapter/postgres/outbox.ts';
import { reportDue } from '../../platform/adapter/report.ts';
import { serveProcessor } from '../../platform/adapter/serve.ts';
import { shareRunning } from '../../platform/adapter/share-running.ts';
import { closeServer, createBoundedServer, listen } from '../../platform/http-server.ts';
import type { Log } from '../../platform/log.ts';
import { runPeriodically } from '../../platform/periodic-job.ts';
import { readServerTls, tlsFiles } from '../../platform/tls.ts';
import { openClient } from './api/client.ts';
import type { Desk } from './desk.ts';
import { ADYEN_SCHEMA } from './ledger/schema.ts';
import { processorMethods } from './rpc/server.ts';
import type { Settings } from './settings.ts';
import { sendAgain } from './settlement/advance.ts';
import { applyDue } from './webhook/apply.ts';
import { receiveWebhooks } from './webhook/receive.ts';

/** A running adapter. */
export interface Adapter {
  /** The processor contract. */
  readonly grpcPort: number;
  /** Adyen's notifications. */
  readonly webhookPort: number;
  /** Deals with what Adyen notified, rather than at its time. */
  applyDue(): Promise<void>;
  /** Sends again what Adyen has not answered and is due, rather than at its time. */
  sendAgain(): Promise<void>;
  /** Reports to core what is due now, rather than at its time. */
  reportDue(): Promise<void>;
  /** Lets running calls end, then stops; nothing stays open. */
  close(): Promise<void>;
}

const GRACE_MS = 10_000;
const EVERY_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Starts the adapter: its schema, its gRPC server, Adyen's webhook and the reports to core. Throws an Error of one line
 * that names the setting that is wrong.
 */
export async function startAdapter(settings: Settings, given: { log: Log; now?: () => Date }): Promise<Adapter> {
  const { log, now = () => new Date() } = given;
  const { DATABASE_URL: databaseUrl, HOST: host, ADYEN_MERCHANT_ACCOUNT: merchantAccount } = settings;
  await using started = new AsyncDisposableStack();
  const tls = readServerTls('ADYEN_TLS', tlsFiles('ADYEN_TLS', settings));
  const core = started.adopt(openEventReporter(settings), ({ close }) => close());
  await migrate(databaseUrl, ADYEN_SCHEMA);
  const database = started.adopt(openDatabase(databaseUrl), ({ close }) => close());
  const { since, isRestored } = await completeSince(database.query, ADYEN_SCHEMA.name);
  if (isRestored) log.warn('ledger restored', { reason: 'history' });
  const repeat = (name: string, intervalMs: number, runOnce: () => Promise<unknown>) =>
    started.adopt(runPeriodically({ name, intervalMs, runOnce }, log), ({ close }) => close());
  const outbox = openOutbox(database.query, ADYEN_SCHEMA.name);
  const reports = repeat('report', EVERY_MS, () => reportDue({ core, outbox, log }));
  const desk: Desk = {
    database,
    adyen: openClient(settings),
    log,
    now,
    merchantAccount,
    holdMs: settings.ADYEN_HOLD_DAYS * DAY_MS,
    resultMs: settings.ADYEN_RESULT_DAYS * DAY_MS,
    adjustments: settings.ADYEN_ADJUSTMENTS === 'on',
    completeSince: since,
    share: shareRunning(),
    onEvent: reports.wake,
  };
  const applying = repeat('notifications', EVERY_MS, () => applyDue(desk));
  const sending = repeat('unanswered', EVERY_MS, () => sendAgain(desk));
  const hmacKeys = settings.ADYEN_HMAC_KEY.split(',');
  const page = createBoundedServer(receiveWebhooks({ database, hmacKeys, log, onNotification: applying.wake }));
  started.defer(() => closeServer(page, GRACE_MS));
  const webhookPort = await listen(page, 'ADYEN_WEBHOOK_PORT', settings.ADYEN_WEBHOOK_PORT, host);
  const address = { setting: 'ADYEN_PORT', port: settings.ADYEN_PORT, host, tls, graceMs: GRACE_MS };
  const identity = `${new URL(settings.ADYEN_API_BASE).hostname} ${merchantAccount}`;
  const served = {
    methods: processorMethods(desk, identity),
    log,
    credential: settings.PROCESSOR_CREDENTIAL,
    ...address,
  };
  const { port: grpcPort } = started.adopt(await serveProcessor(served), ({ close }) => close());
  log.info('ready', { grpcPort, port: webhookPort });
  const running = started.move();
  return {
    grpcPort,
    webhookPort,
    applyDue: applying.runOnce,
    sendAgain: sending.runOnce,
    reportDue: reports.runOnce,
    close: () => running.disposeAsync(),
  };
}
