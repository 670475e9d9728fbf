import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { Server as GrpcServer } from '@grpc/grpc-js';
import { createHttpDoor } from '../../platform/http-server.ts';
import { boundHttp2Streams } from '../../platform/http2-limits.ts';
import { type Log, openLog } from '../../platform/log.ts';
import { type DoorTls, doorCredentials, readChannelTls, readDoorTls, tlsFiles } from '../../platform/tls.ts';
import { checkoutApp } from './checkout/app.ts';
import { capabilities } from './checkout/capability.ts';
import { type Clock, systemClock } from './clock.ts';
import { openLedger } from './ledger/ledger.ts';
import { openReporter } from './report.ts';
import { processorServer } from './rpc/server.ts';
import type { Settings } from './settings.ts';

/** A running sandbox. */
export interface Sandbox {
  /** The processor contract. */
  readonly grpcPort: number;
  /** The hosted page. */
  readonly checkoutPort: number;
  /** Reports to core what is due now, rather than at its time. */
  reportDue(): Promise<void>;
  /** Lets running calls end (silent ones at once), then stops; nothing stays open. */
  close(): Promise<void>;
}

const LONGEST_GOODBYE_MS = 3_000;

/** Starts the sandbox processor: its gRPC door, its checkout page and the reports to core. */
export async function startSandbox(settings: Settings, given: { clock?: Clock; log?: Log } = {}): Promise<Sandbox> {
  const clock = given.clock ?? systemClock;
  const log = given.log ?? openLog('sandbox', settings.LOG_LEVEL);
  const doorTls = readDoorTls('SANDBOX_TLS', tlsFiles('SANDBOX_TLS', settings));
  const coreTls = readChannelTls('CORE_TLS', tlsFiles('CORE_TLS', settings));
  const ledger = openLedger(settings.SANDBOX_LEDGER);
  const secrets = capabilities(settings.PROCESSOR_CREDENTIAL);
  const reporter = openReporter({
    ledger,
    clock,
    log,
    coreUrl: settings.CORE_URL,
    coreTls,
    token: settings.PROCESSOR_TOKEN,
  });
  let baseUrl = settings.CHECKOUT_BASE_URL?.replace(/\/+$/, '') ?? '';
  const origin = () => new URL(baseUrl).origin;
  const app = checkoutApp({ ledger, clock, log, capabilities: secrets, reporter, origin });
  const page = createHttpDoor(app.callback());
  const unbound = boundHttp2Streams();
  let processor: ReturnType<typeof processorServer> | undefined;
  try {
    const checkoutPort = await listen(page, settings.CHECKOUT_PORT, settings.HOST);
    baseUrl ||= `http://127.0.0.1:${checkoutPort}`;
    const { PROCESSOR_CREDENTIAL: credential } = settings;
    const calls = { ledger, clock, log, credential, capabilities: secrets, checkoutBaseUrl: baseUrl };
    processor = processorServer({ ...calls, onEvent: reporter.wake });
    const grpcPort = await bind(processor.server, settings.SANDBOX_PORT, settings.HOST, doorTls);
    reporter.wake();
    log.info('ready', { grpcPort, checkoutPort });
    return { grpcPort, checkoutPort, reportDue: reporter.runOnce, close };
  } catch (error) {
    await close();
    throw error;
  }

  async function close(): Promise<void> {
    processor?.endSilences();
    await Promise.all([closePage(page), processor && closeGrpc(processor.server)]);
    await reporter.close();
    ledger.close();
    unbound();
  }
}

function listen(server: HttpServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(new Error(`CHECKOUT_PORT: cannot listen on ${host}:${port}`, { cause })));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

async function bind(server: GrpcServer, port: number, host: string, tls: DoorTls | undefined): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    return await promisify(server.bindAsync.bind(server))(address, doorCredentials(tls));
  } catch (cause) {
    throw new Error(`SANDBOX_PORT: cannot listen on ${address}`, { cause });
  }
}

async function closePage(server: HttpServer): Promise<void> {
  if (!server.listening) return;
  const force = setTimeout(() => server.closeAllConnections(), LONGEST_GOODBYE_MS);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(force);
}

async function closeGrpc(server: GrpcServer): Promise<void> {
  const force = setTimeout(() => server.forceShutdown(), LONGEST_GOODBYE_MS);
  await new Promise((resolve) => server.tryShutdown(resolve));
  clearTimeout(force);
}
