import type Stripe from 'stripe';
import { openLeases } from '../../platform/adapter/postgres/lease.ts';
import { type Served, startLedger } from '../../platform/adapter/postgres/start-ledger.ts';
import type { Log } from '../../platform/log.ts';
import type { Context } from './adapter-context.ts';
import { PATIENCE, type Patience } from './api/ask.ts';
import { checkKey, openClient } from './api/client.ts';
import type { Reach } from './crash-points.ts';
import { STRIPE_SCHEMA } from './ledger/schema.ts';
import { processorMethods } from './rpc/server.ts';
import type { Settings } from './settings.ts';
import { dealWithNotices, lookAround } from './webhook/looks.ts';
import { CLOSING_PAGE, CLOSING_PATH, webhooksTo } from './webhook/receive.ts';

/** A running adapter. */
export interface Adapter extends Served {
  /** Deals with what Stripe announced, rather than at its time. */
  dealWithNotices(): Promise<void>;
  /** Looks at the payments that are due, rather than at their time. */
  lookAround(): Promise<void>;
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

/**
 * Starts the adapter: its schema, its gRPC server, Stripe's webhooks and the reports to core. Throws an Error of one
 * line that names the setting that is wrong.
 */
export async function startAdapter(settings: Settings, given: Given): Promise<Adapter> {
  const { log, now, reach = () => undefined, patience = PATIENCE, leaseMs } = given;
  await using started = new AsyncDisposableStack();
  const { stripe } = started.adopt(openClient(settings), ({ close }) => close());
  if (!(await checkKey(stripe))) log.warn('stripe away');
  const ledger = await startLedger(started, { name: 'STRIPE', settings, schema: STRIPE_SCHEMA, log, now });
  stripe.on('response', ({ status }: Stripe.ResponseEvent) => ledger.metrics.countAnswer(status));
  const context: Context = {
    ...ledger.context,
    leases: openLeases(ledger.context.database, leaseMs),
    stripe,
    mode: settings.STRIPE_API_KEY.includes('_test_') ? 'test' : 'live',
    patience,
    reach,
    statementSuffixes: settings.STRIPE_STATEMENT_SUFFIXES ?? {},
  };
  const notices = ledger.repeat('notices', NOTICES_EVERY_MS, () => dealWithNotices(context));
  const looks = ledger.repeat('looks', LOOKS_EVERY_MS, () => lookAround(context));
  const secrets = settings.STRIPE_WEBHOOK_SECRET.split(',');
  const pages = { [CLOSING_PATH]: () => [200, CLOSING_PAGE] as const };
  const webhookPort = await ledger.receive(webhooksTo(context, secrets, notices.wake), pages);
  const origin = settings.STRIPE_PUBLIC_URL?.replace(/\/+$/, '') ?? `http://127.0.0.1:${webhookPort}`;
  const served = await ledger.serve(processorMethods(context, `${origin}${CLOSING_PATH}`));
  return { ...served, dealWithNotices: notices.runOnce, lookAround: looks.runOnce };
}
