import { closeServer, createBoundedServer, listen } from '../../http-server.ts';
import type { Log } from '../../log.ts';
import { runPeriodically } from '../../periodic-job.ts';
import { readServerTls, tlsFiles } from '../../tls.ts';
import { openEventReporter } from '../event-reporter.ts';
import { reportDue } from '../report.ts';
import { type Methods, serveProcessor } from '../serve.ts';
import { type LedgerSettings, ownSettings } from '../settings.ts';
import { answerHttp, type Pages, type Webhooks } from '../webhook-server.ts';
import { type Database, openDatabase } from './database.ts';
import { purgeInbox } from './inbox.ts';
import { metricsPage, openMetrics } from './metrics.ts';
import { migrate, type Schema } from './migrate.ts';
import { openOutbox } from './outbox.ts';

/** A running adapter. */
export interface Served {
  /** The processor contract. */
  readonly grpcPort: number;
  /** The processor's webhooks. */
  readonly webhookPort: number;
  /** Metrics and health; undefined when none are served. */
  readonly metricsPort: number | undefined;
  /** Reports to core what is due now, rather than at its time. */
  reportDue(): Promise<void>;
  /** Lets running calls end, then stops; nothing stays open. */
  close(): Promise<void>;
}

/** What becomes the ledger of an adapter. Its settings begin with `name`. */
interface Given {
  readonly name: string;
  readonly settings: LedgerSettings;
  readonly schema: Schema;
  readonly log: Log;
  readonly now: (() => Date) | undefined;
}

/** What every call of an adapter works with. */
export interface LedgerContext {
  readonly database: Database;
  readonly log: Log;
  readonly now: () => Date;
  /** Called when there may be a new event to report. */
  readonly onEvent: () => void;
}

const GRACE_MS = 10_000;
const REPORTS_EVERY_MS = 1_000;
/** Finding old announcements reads all of them. */
const PURGES_EVERY_MS = 60 * 60 * 1000;

/**
 * Starts what an adapter has whatever its processor is: a ledger in PostgreSQL, reports to core, and servers. `started`
 * closes what it starts. Throws an Error of one line that names the setting that is wrong.
 */
export async function startLedger(started: AsyncDisposableStack, given: Given) {
  const { name, settings, schema, log, now = () => new Date() } = given;
  const { HOST: host, DATABASE_URL: databaseUrl, PROCESSOR_CREDENTIAL: credential } = settings;
  const own = ownSettings(name, settings);
  const tls = readServerTls(`${name}_TLS`, tlsFiles(`${name}_TLS`, settings));
  const core = started.adopt(openEventReporter(settings), ({ close }) => close());
  await migrate(databaseUrl, schema, () => log.warn('migration_waits'));
  const database = started.adopt(openDatabase(databaseUrl, schema.name), ({ close }) => close());
  const outbox = openOutbox(database.query);
  const metrics = openMetrics(database, schema.name);
  /** Runs a job at an interval, until the adapter stops. */
  const repeat = (job: string, intervalMs: number, runOnce: () => Promise<unknown>) =>
    started.adopt(runPeriodically({ name: job, intervalMs, runOnce }, log), ({ close }) => close());
  const health: Pages = {
    '/healthz': () => [200, 'ok\n'],
    '/readyz': () =>
      database.query('SELECT').then(
        () => [200, 'ready\n'],
        () => [503],
      ),
  };
  const listenAt = (setting: string, port: number, pages: Pages, webhooks?: Webhooks) => {
    const server = createBoundedServer(answerHttp(log, { ...health, ...pages }, webhooks));
    started.defer(() => closeServer(server, GRACE_MS));
    return listen(server, setting, port, host);
  };
  const stopping = new AbortController();
  const reports = repeat('report', REPORTS_EVERY_MS, () => reportDue({ core, outbox, log, signal: stopping.signal }));
  started.defer(() => stopping.abort());
  repeat('purge', PURGES_EVERY_MS, () => purgeInbox(database.query));
  let webhookPort = 0;
  const context: LedgerContext = { database, log, now, onEvent: reports.wake };
  return {
    context,
    metrics,
    repeat,
    /** Reports to core what is due now. */
    report: reports.runOnce,
    /** Serves webhooks and pages, with `GET /healthz` and `/readyz` beside them; returns the port. */
    async receive(webhooks: Webhooks, pages: Pages = {}): Promise<number> {
      webhookPort = await listenAt(`${name}_WEBHOOK_PORT`, own.webhookPort, pages, webhooks);
      return webhookPort;
    },
    /** Serves the contract, and metrics where a port is set for them: the last that is started. */
    async serve(methods: Methods): Promise<Served> {
      let metricsPort: number | undefined;
      if (own.metricsPort !== undefined) {
        const setting = `${name}_METRICS_PORT`;
        if (own.metricsToken === undefined) throw new Error(`${name}_METRICS_TOKEN: is required with ${setting}`);
        metricsPort = await listenAt(setting, own.metricsPort, { '/metrics': metricsPage(metrics, own.metricsToken) });
      }
      const address = { setting: `${name}_PORT`, port: own.port, host, tls, graceMs: GRACE_MS };
      const served = await serveProcessor({ methods, log, credential, ...address });
      started.defer(() => served.close());
      const grpcPort = served.port;
      log.info('ready', { grpcPort, port: webhookPort });
      const running = started.move();
      const close = () => running.disposeAsync();
      return { grpcPort, webhookPort, metricsPort, reportDue: reports.runOnce, close };
    },
  };
}
