/** A core with its own database and a sandbox, on a manual clock. */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type DescService, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { credentials, status } from '@grpc/grpc-js';
import { Pool } from 'pg';
import { openChannel } from '../../../platform/grpc-client.ts';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import { BadRequestSchema, ErrorInfoSchema } from '../../../proto/gen/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../../proto/gen/google/rpc/status_pb.js';
import { ProcessorEventService } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { type LimitSchema, MerchantService } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { OctService } from '../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { PreauthorizationService } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { RefundService } from '../../../proto/gen/holdfast/v1/refund_pb.js';
import { openBooks } from '../../../services/core/books/books.ts';
import type { CrashPoint, Reach } from '../../../services/core/domain/crash-points.ts';
import type { Sender } from '../../../services/core/kinds/sender.ts';
import { inSettings } from '../../../services/core/processor/processor-settings.ts';
import { ledgersOf, openProcessors } from '../../../services/core/processor/processors.ts';
import type { Drift } from '../../../services/core/reconciliation/self-audit.ts';
import { audit } from '../../../services/core/reconciliation/self-audit.ts';
import {
  automaticCaptures,
  expiries,
  expiringNotices,
  keptHolds,
  renewals,
  replacedAuthorizations,
} from '../../../services/core/recovery/due-holds.ts';
import { checkoutExpiries, inquiries } from '../../../services/core/recovery/inquire-open.ts';
import { CORE_SETTINGS } from '../../../services/core/settings/core-settings.ts';
import { type CoreOptions, type RunningCore, startCore } from '../../../services/core/start/start-core.ts';
import { openCipher } from '../../../services/core/storage/cipher.ts';
import { openPool } from '../../../services/core/storage/open-pool.ts';
import { freePort } from '../../../services/quickstart/ports.ts';
import { startSandbox } from '../../../services/sandbox/sandbox.ts';
import { createMigratedDatabase, type TestDatabase } from '../../database.ts';
import { forSuite } from '../../suite.ts';
import { openOracle } from '../sandbox/oracle.ts';
import { TestClock } from '../sandbox/test-clock.ts';
import { workOnce } from './work-once.ts';

const token = () => randomBytes(24).toString('base64url');

/** What a test of core's money needs. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

export interface StageOptions {
  readonly processorTimeoutMs?: number;
  /** The number of cores on the one database. */
  readonly cores?: number;
  /** MAX_CALLS_IN_FLIGHT of the cores. */
  readonly callsInFlight?: number;
  /** One more core, the last, that admits no call. */
  readonly withFullCore?: boolean;
  readonly reach?: Reach;
  /** Address of a processor that replaces the sandbox, `host:port`. */
  readonly processor?: string;
  /** Addresses of more processors, by name; the first one is then called `first`. */
  readonly beside?: Readonly<Record<string, string>>;
  /** A migrated database; absent = a new one. */
  readonly database?: TestDatabase;
  /** Name of a second sandbox, beside the one that is then called `first`. */
  readonly second?: string;
  /** More settings of the cores. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The gateway's addresses, which internalUrl may not be. */
  readonly gatewayOrigin?: string;
  /** Where the sandbox reports its events instead of the first core, `host:port`. */
  readonly eventsTo?: string;
}

/**
 * Opens a sandbox on the clock and with the credentials of a stage, with its oracle. Its calls without an answer end at
 * once: the outcome is as unknown as after a timeout, for which nobody has to wait.
 */
export async function openSandbox(of: {
  readonly clock: TestClock;
  readonly tokens: { readonly credential: string; readonly processor: string };
  /** The ledger's file. */
  readonly ledger: string;
  readonly eventsTo: string;
}) {
  const settings = { HOST: '127.0.0.1', SANDBOX_PORT: 0, CHECKOUT_PORT: 0, LOG_LEVEL: 'silent' } as const;
  const { clock, tokens, ledger, eventsTo } = of;
  const secrets = { PROCESSOR_TOKEN: tokens.processor, PROCESSOR_CREDENTIAL: tokens.credential };
  const sandbox = await startSandbox(
    { ...settings, ...secrets, SANDBOX_LEDGER: ledger, CORE_URL: eventsTo },
    { clock, silenceMs: 0 },
  );
  const oracle = openOracle(ledger);
  return {
    ...sandbox,
    oracle,
    async close() {
      oracle.close();
      await sandbox.close();
    },
  };
}

/** Opens a stage of two cores for the tests of a suite. A core that reaches `crash.at` dies there, once. */
export function useMortalStage(options: StageOptions = {}) {
  const crash: { at?: CrashPoint | undefined } = {};
  const reach = (point: CrashPoint) => {
    if (point !== crash.at) return;
    crash.at = undefined;
    throw new Error('died here');
  };
  return { stage: forSuite(() => openStage({ cores: 2, ...options, reach })), crash };
}

/** Opens a stage. */
export async function openStage(options: StageOptions = {}) {
  const database = options.database ?? (await createMigratedDatabase());
  const directory = await mkdtemp(`${tmpdir()}/holdfast-stage-`);
  const clock = new TestClock(Date.UTC(2027, 0, 1));
  const tokens = { gateway: token(), internal: token(), operator: token(), processor: token(), credential: token() };
  const common = { PROCESSOR_CREDENTIAL: tokens.credential, PROCESSOR_TOKEN: tokens.processor, LOG_LEVEL: 'silent' };
  const corePort = await freePort();
  const ledger = `${directory}/ledger.sqlite`;
  const ledgerOfSecond = `${directory}/second.sqlite`;
  const eventsTo = options.eventsTo ?? `127.0.0.1:${corePort}`;
  const { oracle, ...sandbox } = await openSandbox({ clock, tokens, ledger, eventsTo });
  const ofSecond = { ...tokens, processor: token(), credential: token() };
  const second =
    options.second === undefined
      ? undefined
      : await openSandbox({ clock, tokens: ofSecond, ledger: ledgerOfSecond, eventsTo });
  const settings = readSettings(CORE_SETTINGS, {
    ...common,
    DATABASE_URL: database.url,
    CORE_PORT: String(corePort),
    CONNECT_PORT: '0',
    ...processorsOf(options.processor ?? `127.0.0.1:${sandbox.grpcPort}`, tokens, {
      ...Object.fromEntries(
        Object.entries(options.beside ?? {}).map(([name, address]) => [name, { address, ...ofSecond }]),
      ),
      ...(second && { [options.second as string]: { address: `127.0.0.1:${second.grpcPort}`, ...ofSecond } }),
    }),
    PROCESSOR_TIMEOUT_MS: String(options.processorTimeoutMs ?? 10_000),
    MAX_CALLS_IN_FLIGHT: String(options.callsInFlight ?? ''),
    ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    GATEWAY_TOKEN: tokens.gateway,
    SERVICE_TOKEN: tokens.internal,
    OPERATOR_TOKEN: tokens.operator,
    GATEWAY_ORIGIN: options.gatewayOrigin ?? '',
    ...options.environment,
  });
  const now = () => new Date(clock.now());
  const coreOptions: CoreOptions = { clock: now, ...(options.reach && { reach: options.reach }) };
  const cores: RunningCore[] = [];
  // The sandbox reports to the first.
  for (let index = 0; index < (options.cores ?? 1); index++) {
    cores.push(await startCore(index === 0 ? settings : { ...settings, CORE_PORT: 0 }, coreOptions));
  }
  if (options.withFullCore)
    cores.push(await startCore({ ...settings, CORE_PORT: 0, MAX_CALLS_IN_FLIGHT: 0 }, coreOptions));
  const own = await openPool({ databaseUrl: database.url, poolSize: 4 });
  const sqlPool = new Pool({ connectionString: database.url });
  sqlPool.on('error', () => undefined);
  const log = openLog('test', 'silent');
  const recovery: Sender = {
    database: own,
    books: openBooks(own, async () => undefined),
    clock: now,
    log,
    processors: openProcessors(settings),
    cipher: openCipher(settings.ENCRYPTION_KEYS),
    reach: options.reach ?? (() => undefined),
  };
  const open = (bearer: string, index = 0) => {
    const address = `127.0.0.1:${cores[index % cores.length]?.corePort}`;
    return openChannel({ address, credentials: credentials.createInsecure(), token: bearer, timeoutMs: 60_000 });
  };
  const channel = (role: keyof typeof tokens, index = 0) => {
    const opened = open(tokens[role], index);
    closers.push(async () => opened.close());
    return {
      holds: opened.client(PreauthorizationService),
      octs: opened.client(OctService),
      refunds: opened.client(RefundService),
      operations: opened.client(OperationService),
      merchants: opened.client(MerchantService),
      events: opened.client(ProcessorEventService),
      opened,
    };
  };
  const closers: (() => Promise<void>)[] = [];
  return {
    clock,
    settings,
    sandbox,
    oracle,
    /** The sandbox of the option `second`. */
    second,
    /** The ledger's file. */
    ledger,
    /** The files of all ledgers. */
    ledgers: second ? [ledger, ledgerOfSecond] : [ledger],
    database: own,
    /** For the SQL of tests: connections without the limits and the planner's settings of a core. */
    sqlPool,
    recovery,
    tokens,
    /** The credential and the token of the processor beside the first. */
    ofSecond,
    cores,
    channel,
    /** Opens a client for the events of the processor beside the first. */
    eventsOfSecond() {
      const opened = open(ofSecond.processor);
      closers.push(async () => opened.close());
      return opened.client(ProcessorEventService);
    },
    /** Opens a client of a service of core. */
    client: <S extends DescService>(role: keyof typeof tokens, service: S) => channel(role).opened.client(service),
    /** Waits for a call that the sandbox answers late, for tok_sandbox_slow after two seconds of this clock. */
    async soon<T>(call: Promise<T>): Promise<T> {
      let isOver = false;
      const ended = call.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await delay(50);
        clock.advance(200);
      }
      return ended;
    },
    inquire: () => workOnce(inquiries(recovery)),
    /** Expires the holds and checkouts that are due. Returns their number. */
    async expire(): Promise<number> {
      const [holds, checkouts] = [workOnce(expiries(recovery)), workOnce(checkoutExpiries(recovery))];
      await Promise.allSettled([holds, checkouts]);
      return (await holds) + (await checkouts);
    },
    captureDue: () => workOnce(automaticCaptures(recovery)),
    releaseRenewed: () => workOnce(renewals(recovery)),
    /** Renews holds that are due to, and stores the voids of what renewals have left. */
    renewKept: async () => (await workOnce(keptHolds(recovery))) + (await workOnce(replacedAuthorizations(recovery))),
    renewDue: () => workOnce(keptHolds(recovery)),
    voidReplaced: () => workOnce(replacedAuthorizations(recovery)),
    noticeExpiring: () => workOnce(expiringNotices(recovery)),
    /** Runs the service's own audit: on its books alone, or also against the processors'. */
    async audit(what: 'own books' | 'all books' = 'all books'): Promise<readonly Drift[]> {
      const processors = what === 'all books' ? ledgersOf(recovery.processors) : undefined;
      const parts = { databaseUrl: database.url, processors, most: 5, patienceMs: 0, mostUnknown: 5_000 };
      return (await audit(parts)).found;
    },
    async close() {
      for (const close of closers) await close();
      recovery.processors.close();
      for (const core of cores) await core.close();
      await own.close();
      await sqlPool.end();
      await sandbox.close();
      await second?.close();
      await rm(directory, { recursive: true });
      await database.drop();
    },
  };
}

interface Secrets {
  readonly credential: string;
  readonly processor: string;
}

/** With several processors each has a credential and a token of its own. */
function processorsOf(
  first: string,
  tokens: Secrets,
  more: Readonly<Record<string, Secrets & { readonly address: string }>>,
): Record<string, string> {
  if (Object.keys(more).length === 0) return { PROCESSOR_URL: first };
  const all = Object.entries({ first: { address: first, ...tokens }, ...more });
  const secrets = all.flatMap(([name, { credential, processor }]) => [
    [`PROCESSOR_${inSettings(name)}_CREDENTIAL`, credential],
    [`PROCESSOR_${inSettings(name)}_TOKEN`, processor],
  ]);
  return {
    PROCESSORS: all.map(([name, { address }]) => `${name}=${address}`).join(','),
    ...Object.fromEntries(secrets),
  };
}

/** The contract most tests work under. */
export function contract(
  overrides: {
    currencies?: string[];
    allowMultipleCaptures?: boolean;
    holdPeriod?: { seconds: bigint };
    notifyHolds?: boolean;
    notifyExpiringHours?: number;
    webhookUrl?: string;
    internalUrl?: string;
    processor?: string;
    processorAccount?: string;
    allowOct?: boolean;
    limits?: MessageInitShape<typeof LimitSchema>[];
  } = {},
) {
  const terms = { currencies: ['EUR', 'USD', 'JPY'], terminals: ['T1', 'T2'], allowMultipleCaptures: true };
  return { ...terms, allowOct: true, ...overrides };
}

/** Returns the code of a refusal. */
export const why = async (call: Promise<unknown>) => (await refusal(call)).reason;

interface Refused {
  readonly status: string;
  readonly reason: string;
  readonly metadata: Record<string, string>;
  /** What is said of each field at fault. */
  readonly violations: Record<string, string>;
}

/** Returns the code and details of a refusal that a client received. */
export async function refusal(call: Promise<unknown>): Promise<Refused> {
  try {
    await call;
  } catch (error) {
    const { code, metadata } = error as { code: number; metadata: { get(name: string): Buffer[] } };
    const [details] = metadata.get('grpc-status-details-bin');
    const all = details ? fromBinary(StatusSchema, details).details : [];
    const info = all.map((any) => anyUnpack(any, ErrorInfoSchema)).find((found) => found !== undefined);
    const fields = all.flatMap((any) => anyUnpack(any, BadRequestSchema)?.fieldViolations ?? []);
    const violations = Object.fromEntries(fields.map(({ field, description }) => [field, description]));
    return { status: status[code] ?? '', reason: info?.reason ?? '', metadata: { ...info?.metadata }, violations };
  }
  throw new Error('the call was not refused');
}
