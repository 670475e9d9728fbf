import { completeSince } from '../../platform/adapter/postgres/history.ts';
import { type Served, startLedger } from '../../platform/adapter/postgres/start-ledger.ts';
import { closeServer, createBoundedServer, listen } from '../../platform/http-server.ts';
import type { Log } from '../../platform/log.ts';
import type { Context } from './adapter-context.ts';
import { openClient } from './api/client.ts';
import { ADYEN_SCHEMA } from './ledger/schema.ts';
import { type PageAddresses, pageAddresses } from './page/addresses.ts';
import { pageApp } from './page/app.ts';
import { processorMethods } from './rpc/server.ts';
import type { Settings } from './settings.ts';
import { sendAgain } from './settlement/advance.ts';
import { applyDue } from './webhook/apply.ts';
import { webhooksTo } from './webhook/receive.ts';

/** A running adapter. */
export interface Adapter extends Served {
  /** The pages for customers; undefined when there are none. */
  readonly pagePort: number | undefined;
  /** Deals with what Adyen notified, rather than at its time. */
  applyDue(): Promise<void>;
  /** Sends again what Adyen has not answered and is due, rather than at its time. */
  sendAgain(): Promise<void>;
}

const EVERY_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Starts the adapter: its schema, its gRPC server, Adyen's webhook and the reports to core. Throws an Error of one line
 * that names the setting that is wrong.
 */
export async function startAdapter(settings: Settings, given: { log: Log; now?: () => Date }): Promise<Adapter> {
  const { log, now } = given;
  const { ADYEN_MERCHANT_ACCOUNT: merchantAccount, ADYEN_PAGE_ORIGIN: origin } = settings;
  await using started = new AsyncDisposableStack();
  const ledger = await startLedger(started, { name: 'ADYEN', settings, schema: ADYEN_SCHEMA, log, now });
  const complete = async () => {
    const found = await completeSince(ledger.context.database.query);
    if (found.doubt) log.warn('ledger incomplete', { reason: found.doubt });
    return found;
  };
  const atStart = await complete();
  const context: Context = {
    ...ledger.context,
    adyen: openClient(settings, ledger.metrics.countAnswer),
    merchantAccount,
    returnUrl: settings.ADYEN_RETURN_URL,
    pages: origin === undefined ? undefined : pageAddresses(origin, settings.PROCESSOR_CREDENTIAL),
    holdMs: settings.ADYEN_HOLD_DAYS * DAY_MS,
    resultMs: settings.ADYEN_RESULT_DAYS * DAY_MS,
    adjustments: settings.ADYEN_ADJUSTMENTS === 'on',
    guaranteeDays: settings.ADYEN_GUARANTEE_DAYS,
    // A standby may have taken over since the start. Where that cannot be seen, only starts count.
    completeSince: async () => (atStart.doubt === 'history unknown' ? atStart : await complete()).since,
    sending: new Map(),
  };
  const applying = ledger.repeat('notifications', EVERY_MS, () => applyDue(context));
  const sending = ledger.repeat('unanswered', EVERY_MS, () => sendAgain(context));
  const hmacKeys = settings.ADYEN_HMAC_KEY.split(',');
  await ledger.receive(webhooksTo(context, hmacKeys, applying.wake));
  const pagePort = context.pages && (await servePages(started, context, context.pages, settings, ledger.report));
  const identity = `${new URL(settings.ADYEN_API_BASE).hostname} ${merchantAccount}`;
  const served = await ledger.serve(processorMethods(context, identity));
  return { ...served, pagePort, applyDue: applying.runOnce, sendAgain: sending.runOnce };
}

const GRACE_MS = 3_000;

/** Serves the pages for customers; returns the port. */
function servePages(
  started: AsyncDisposableStack,
  context: Context,
  addresses: PageAddresses,
  { HOST: host, ADYEN_PAGE_PORT: port, TRUSTED_PROXY_HOPS: trustedHops }: Settings,
  report: () => Promise<void>,
): Promise<number> {
  const app = pageApp({ context, addresses, trustedHops, report });
  const server = started.adopt(createBoundedServer(app.callback()), (pages) => closeServer(pages, GRACE_MS));
  return listen(server, 'ADYEN_PAGE_PORT', port, host);
}
