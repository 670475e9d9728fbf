import type Stripe from 'stripe';
import { openLeases } from '../../platform/adapter/postgres/lease.ts';
import { startLedger } from '../../platform/adapter/postgres/start-ledger.ts';
import type { Log } from '../../platform/log.ts';
import { PATIENCE, type Patience } from './api/ask.ts';
import { checkKey, openClient } from './api/client.ts';
import type { Reach } from './crash-points.ts';
import type { Desk } from './desk.ts';
import { STRIPE_SCHEMA } from './ledger/migrations.ts';
import { purgeNotices } from './ledger/notice.ts';
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

const NOTICES_EVERY_MS = 2_000;
const LOOKS_EVERY_MS = 1_000;
/** Finding old notices reads all of them. */
const PURGES_EVERY_MS = 60 * 60 * 1000;

/**
 * Starts the adapter: its schema, its gRPC server, Stripe's webhooks and the reports to core. Throws an Error of one line
 * that names the setting that is wrong.
 */
export async function startAdapter(settings: Settings, given: Given): Promise<Adapter> {
  const { log, now = () => new Date(), reach = () => undefined, patience = PATIENCE, leaseMs } = given;
  await using started = new AsyncDisposableStack();
  const { stripe } = started.adopt(openClient(settings), ({ close }) => close());
  if (!(await checkKey(stripe))) log.warn('stripe away');
  const ledger = await startLedger(started, { name: 'STRIPE', settings, schema: STRIPE_SCHEMA, inbox: 'notice', log });
  const { database, reports, repeat } = ledger;
  stripe.on('response', ({ status }: Stripe.ResponseEvent) => ledger.metrics.countAnswer(status));
  const onNotice = () => notices.wake();
  const secrets = settings.STRIPE_WEBHOOK_SECRET.split(',');
  const webhooks = receiveWebhooks({ database, webhooks: stripe.webhooks, secrets, log, onNotice });
  const webhookPort = await ledger.receive(webhooks);
  const origin = settings.STRIPE_PUBLIC_URL?.replace(/\/+$/, '') ?? `http://127.0.0.1:${webhookPort}`;
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
    closingUrl: `${origin}${CLOSING_PATH}`,
    onEvent: reports.wake,
  };
  const notices = repeat('notices', NOTICES_EVERY_MS, () => dealWithNotices(desk));
  const looks = repeat('looks', LOOKS_EVERY_MS, () => lookAround(desk));
  repeat('purge', PURGES_EVERY_MS, () => purgeNotices(database.query));
  const served = await ledger.serve(processorMethods(desk));
  log.info('ready', { grpcPort: served.grpcPort, port: webhookPort });
  const running = started.move();
  return {
    ...served,
    webhookPort,
    dealWithNotices: notices.runOnce,
    lookAround: looks.runOnce,
    reportDue: reports.runOnce,
    close: () => running.disposeAsync(),
  };
}
