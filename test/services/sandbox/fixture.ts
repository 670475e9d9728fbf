import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { credentials, status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { type GrpcClient, openChannel } from '../../../platform/grpc-client.ts';
import { openLog } from '../../../platform/log.ts';
import {
  Answer,
  type CreateCheckoutRequestSchema,
  ProcessorService,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Sandbox, startSandbox } from '../../../services/sandbox/sandbox.ts';
import { type FakeCore, startFakeCore } from './fake-core.ts';
import { type Oracle, openOracle } from './oracle.ts';
import { TestClock } from './test-clock.ts';

const PROCESSOR_CREDENTIAL = 'a-credential-that-only-core-may-show';
export const PROCESSOR_TOKEN = 'a-token-that-the-sandbox-shows-to-core';
export const START_MS = Date.UTC(2026, 5, 1);

/** A sandbox with a ledger of its own, a client with core's credential, a fake core and a manual clock. */
export interface Fixture {
  readonly clock: TestClock;
  readonly core: FakeCore;
  readonly ledgerFile: string;
  /** Everything logged. */
  readonly logged: string[];
  client: GrpcClient<typeof ProcessorService>;
  sandbox: Sandbox;
  /** The ledger, through a second connection. */
  oracle<T>(read: (oracle: Oracle) => T): T;
  /** Restarts the sandbox on its ledger. */
  restart(processorCredential?: string): Promise<void>;
  /** Places a hold; asserts that it is approved. */
  placed(tokenId?: string): Promise<ReturnType<typeof holdRequest>>;
  /** Makes a call that is not answered, and gives it up once what it asks for is done. */
  lose(requestId: string, call: (options: { signal: AbortSignal }) => Promise<unknown>): Promise<void>;
  /** A client with another token. */
  clientWith(token: string): { client: GrpcClient<typeof ProcessorService>; close(): void };
  close(): Promise<void>;
}

export async function startFixture(): Promise<Fixture> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sandbox-'));
  const ledgerFile = join(directory, 'ledger', 'sandbox.sqlite');
  const clock = new TestClock(START_MS);
  const core = await startFakeCore();
  const logged: string[] = [];
  const log = openLog('sandbox', 'trace', { destination: { write: (line) => void logged.push(line) } });
  const start = (processorCredential: string) =>
    startSandbox(
      {
        HOST: '127.0.0.1',
        SANDBOX_PORT: 0,
        CHECKOUT_PORT: 0,
        SANDBOX_LEDGER: ledgerFile,
        CORE_URL: core.url,
        PROCESSOR_TOKEN: PROCESSOR_TOKEN,
        PROCESSOR_CREDENTIAL: processorCredential,
        LOG_LEVEL: 'trace',
      },
      { clock, log },
    );
  const open = (token: string) => {
    const address = `127.0.0.1:${fixture.sandbox.grpcPort}`;
    const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 60_000 });
    return { client: channel.client(ProcessorService), close: () => channel.close() };
  };
  const sandbox = await start(PROCESSOR_CREDENTIAL);
  const fixture = { clock, core, ledgerFile, logged, sandbox } as Fixture;
  let connection = open(PROCESSOR_CREDENTIAL);
  return Object.assign(fixture, {
    client: connection.client,
    clientWith: open,
    async placed(tokenId?: string) {
      const hold = holdRequest(tokenId);
      assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.APPROVED);
      return hold;
    },
    async lose(requestId: string, call: (options: { signal: AbortSignal }) => Promise<unknown>) {
      const givingUp = new AbortController();
      const lost = assert.rejects(call({ signal: givingUp.signal }), { code: status.CANCELLED });
      while (!fixture.oracle((ledger) => ledger.find(requestId))) await new Promise(setImmediate);
      givingUp.abort();
      await lost;
    },
    oracle<T>(read: (oracle: Oracle) => T): T {
      const oracle = openOracle(ledgerFile);
      try {
        return read(oracle);
      } finally {
        oracle.close();
      }
    },
    async restart(processorCredential = PROCESSOR_CREDENTIAL) {
      connection.close();
      await fixture.sandbox.close();
      fixture.sandbox = await start(processorCredential);
      connection = open(processorCredential);
      fixture.client = connection.client;
    },
    async close() {
      connection.close();
      await fixture.sandbox.close();
      core.close();
      rmSync(directory, { recursive: true });
    },
  });
}

const WHO = { merchantId: 'acme', terminalId: 'till-1', userId: 'user-1' };

/** A hold of 100.00 EUR with a token. */
export function holdRequest(tokenId = 'tok_sandbox_ok') {
  return { ...WHO, requestId: uuidv7(), tokenId, amount: 10_000n, currency: 'EUR' };
}

/** A capture that belongs to such a hold. */
export function captureRequest(hold: { requestId: string; tokenId?: string }, amount = 10_000n) {
  const { requestId: authorizationRequestId, tokenId = '' } = hold;
  return { ...WHO, requestId: uuidv7(), authorizationRequestId, tokenId, amount, currency: 'EUR' };
}

/** A checkout of 100.00 EUR, open for 30 minutes. */
export function checkoutRequest(terms: MessageInitShape<typeof CreateCheckoutRequestSchema> = {}) {
  const expiresAt = timestampFromMs(START_MS + 30 * 60_000);
  const merchantName = 'Acme & Söhne <Shop>';
  return { ...WHO, merchantName, amount: 10_000n, currency: 'EUR', expiresAt, ...terms, requestId: uuidv7() };
}
