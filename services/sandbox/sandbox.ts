import { setMaxListeners } from 'node:events';
import { openEventReporter } from '../../platform/adapter/event-reporter.ts';
import { serveProcessor } from '../../platform/adapter/serve.ts';
import { closeServer, createBoundedServer, listen } from '../../platform/http-server.ts';
import { type Log, openLog } from '../../platform/log.ts';
import { readServerTls, tlsFiles } from '../../platform/tls.ts';
import { checkoutApp } from './checkout/app.ts';
import { capabilities } from './checkout/capability.ts';
import { type Clock, systemClock } from './clock.ts';
import { openLedger } from './ledger/ledger.ts';
import { openReporter } from './report.ts';
import { processorMethods } from './rpc/server.ts';
import type { Settings } from './settings.ts';

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

const GRACE_MS = 3_000;
/** A caller that waits for ever is let go after this long. */
const LONGEST_SILENCE_MS = 60_000;

/** Starts the sandbox processor: its gRPC server, its checkout page and the reports to core. */
export async function startSandbox(settings: Settings, given: { clock?: Clock; log?: Log; silenceMs?: number } = {}) {
  const { clock = systemClock, silenceMs = LONGEST_SILENCE_MS } = given;
  const log = given.log ?? openLog('sandbox', settings.LOG_LEVEL);
  const { HOST: host, PROCESSOR_CREDENTIAL: credential } = settings;
  const tls = readServerTls('SANDBOX_TLS', tlsFiles('SANDBOX_TLS', settings));
  await using started = new AsyncDisposableStack();
  const core = started.adopt(openEventReporter(settings), ({ close }) => close());
  const ledger = started.adopt(
    openLedger(
      settings.SANDBOX_LEDGER,
      () => clock.now(),
      () => reporter.wake(),
    ),
    ({ close }) => close(),
  );
  const reporter = started.adopt(openReporter(core, ledger, clock, log), ({ close }) => close());
  const [newest = ''] = credential.split(',');
  const page = { ledger, clock, log, capabilities: capabilities(newest), report: reporter.runOnce };
  const app = checkoutApp(page);
  const pages = started.adopt(createBoundedServer(app.callback()), (server) => closeServer(server, GRACE_MS));
  const checkoutPort = await listen(pages, 'CHECKOUT_PORT', settings.CHECKOUT_PORT, host);
  const checkoutBaseUrl = settings.CHECKOUT_BASE_URL?.replace(/\/+$/, '') ?? `http://127.0.0.1:${checkoutPort}`;
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const methods = processorMethods({ ...page, checkoutBaseUrl, silenceMs, stopping: stopping.signal });
  const address = { setting: 'SANDBOX_PORT', port: settings.SANDBOX_PORT, host, tls, graceMs: GRACE_MS };
  const server = started.adopt(await serveProcessor({ methods, log, credential, ...address }), ({ close }) => close());
  started.defer(() => stopping.abort());
  reporter.wake();
  log.info('ready', { grpcPort: server.port, checkoutPort });
  const running = started.move();
  return {
    /** The processor contract. */
    grpcPort: server.port,
    /** The hosted page. */
    checkoutPort,
    /** Reports to core what is due now, rather than at its time. */
    reportDue: reporter.runOnce,
    /** Lets running calls end (silent ones at once), then stops; nothing stays open. */
    close: () => running.disposeAsync(),
  };
}
