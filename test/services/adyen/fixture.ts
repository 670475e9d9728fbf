import assert from 'node:assert/strict';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { type GrpcClient, openChannel } from '../../../platform/grpc-client.ts';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import {
  Answer,
  type Entry,
  EntryKind,
  ProcessorService,
  type Result,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Adapter, startAdapter } from '../../../services/adyen/adapter.ts';
import { ADYEN_SETTINGS } from '../../../services/adyen/settings.ts';
import { createDatabase, type TestDatabase } from '../../database.ts';
import { type FakeCore, startFakeCore } from '../sandbox/fake-core.ts';
import { post } from './fake/by-itself.ts';
import { API_KEY, type FakeAdyen, HMAC_KEY, MERCHANT_ACCOUNT, startFakeAdyen } from './fake/fake-adyen.ts';
import type { Item, Payment } from './fake/payment.ts';

const CREDENTIAL = 'a-credential-that-only-core-may-show';
const TOKEN = 'a-token-that-the-adapter-shows-to-core';
export const METRICS_TOKEN = 'a-token-that-the-scraper-shows-to-the-adapter';

/** The adapter with a database of its own, a client with core's credential, a fake core and a fake Adyen. */
export interface Fixture {
  readonly adyen: FakeAdyen;
  readonly core: FakeCore;
  /** Everything logged. */
  readonly logged: string[];
  client: GrpcClient<typeof ProcessorService>;
  adapter: Adapter;
  /** Advances the adapter's time. */
  advance(ms: number): void;
  restart(): Promise<void>;
  /** Sends notifications, by default all that were not sent yet, and lets the adapter deal with them and report. */
  notify(...items: readonly Item[]): Promise<void>;
  /** Places a hold; asserts that it is approved. */
  placed(token?: string): Promise<Hold>;
  /** Captures a hold, and lets Adyen notify it. */
  captured(hold: Hold, amount?: bigint): Promise<ReturnType<typeof captureRequest>>;
  /** What an inquiry returns as the result. */
  resultOf(hold: Hold, requestId?: string, kind?: EntryKind): Promise<Result | undefined>;
  /** The books of an authorization: its own entry, which adds up. */
  books(hold: Hold): Promise<Entry>;
  paymentOf(hold: Hold): Payment;
  sql(text: string): Promise<void>;
  close(): Promise<void>;
}

export async function startFixture(environment: Record<string, string> = {}): Promise<Fixture> {
  const [database, adyen, core]: [TestDatabase, FakeAdyen, FakeCore] = await Promise.all([
    createDatabase(),
    startFakeAdyen(),
    startFakeCore(),
  ]);
  const logged: string[] = [];
  const log = openLog('adyen', 'trace', { destination: { write: (line) => void logged.push(line) } });
  let skewMs = 0;
  let sent = 0;
  const settings = readSettings(ADYEN_SETTINGS, {
    ...settingsOf(database.url, adyen.origin, core.url),
    ...environment,
  });
  const start = () => startAdapter(settings, { log, now: () => new Date(Date.now() + skewMs) });
  const open = () => {
    const address = `127.0.0.1:${fixture.adapter.grpcPort}`;
    return openChannel({ address, credentials: credentials.createInsecure(), token: CREDENTIAL, timeoutMs: 30_000 });
  };
  const fixture = { adyen, core, logged } as unknown as Fixture;
  fixture.adapter = await start();
  let channel = open();
  return Object.assign(fixture, {
    client: channel.client(ProcessorService),
    advance(ms: number) {
      skewMs += ms;
    },
    async restart() {
      channel.close();
      await fixture.adapter.close();
      fixture.adapter = await start();
      channel = open();
      fixture.client = channel.client(ProcessorService);
    },
    async notify(...items: readonly Item[]) {
      const all = items.length > 0 ? items : adyen.items.slice(sent);
      sent = adyen.items.length;
      const url = `http://127.0.0.1:${fixture.adapter.webhookPort}/webhook/adyen`;
      for (const item of all) assert.equal(await post(url, item), '[accepted]');
      await fixture.sql('UPDATE adyen.inbox SET due_at = now() WHERE done_at IS NULL');
      await fixture.adapter.applyDue();
      await fixture.adapter.reportDue();
    },
    async placed(token?: string) {
      const hold = holdRequest(token);
      const { result } = await fixture.client.authorize(hold);
      assert.equal(Answer[result?.answer ?? 0], 'APPROVED');
      return hold;
    },
    async captured(hold: Hold, amount = hold.amount) {
      const request = captureRequest(hold, amount);
      const { result } = await fixture.client.capture(request);
      assert.equal(Answer[result?.answer ?? 0], 'ACCEPTED');
      await fixture.notify();
      return request;
    },
    async resultOf(hold: Hold, requestId = hold.requestId, kind = EntryKind.AUTHORIZATION) {
      return (await fixture.client.inquire(inquiryOf(hold, requestId, kind))).result;
    },
    async books({ requestId: authorizationRequestId }: Hold) {
      const { entries } = await fixture.client.listEntries({ authorizationRequestId });
      const own = entries.find(({ requestId }) => requestId === authorizationRequestId);
      assert(own, 'the books have the authorization');
      const captures = entries.filter(({ kind, answer }) => kind === EntryKind.CAPTURE && answer === Answer.APPROVED);
      assert.equal(
        captures.reduce((sum, { amount }) => sum + amount, 0n),
        own.captured,
      );
      return own;
    },
    paymentOf({ requestId }: Hold) {
      const found = [...adyen.payments.values()].filter(({ reference }) => reference === requestId);
      assert.equal(found.length, 1, 'one payment');
      return found[0] as Payment;
    },
    async sql(text: string) {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(text);
      await client.end();
    },
    async close() {
      channel.close();
      await fixture.adapter.close();
      core.close();
      await adyen.close();
      await database.drop();
      assert.deepEqual([...new Set(adyen.violations)], [], "what breaks Adyen's OpenAPI document");
    },
  });
}

/** Settings of an adapter with fakes. */
export function settingsOf(databaseUrl: string, apiBase: string, coreUrl: string): Record<string, string> {
  return {
    ADYEN_PORT: '0',
    ADYEN_WEBHOOK_PORT: '0',
    ADYEN_METRICS_PORT: '0',
    ADYEN_METRICS_TOKEN: METRICS_TOKEN,
    ADYEN_API_BASE: apiBase,
    ADYEN_API_KEY: API_KEY,
    ADYEN_MERCHANT_ACCOUNT: MERCHANT_ACCOUNT,
    ADYEN_HMAC_KEY: `${'0'.repeat(64)},${HMAC_KEY}`,
    ADYEN_RETURN_URL: 'https://shop.example/returned',
    ADYEN_TIMEOUT_MS: '20000',
    ADYEN_ADJUSTMENTS: 'on',
    DATABASE_URL: databaseUrl,
    CORE_URL: coreUrl,
    PROCESSOR_TOKEN: TOKEN,
    PROCESSOR_CREDENTIAL: CREDENTIAL,
  };
}

const WHO = { merchantId: 'acme', account: '', terminalId: 'till-1', userId: 'user-1' };

/** A hold of 100.00 EUR with a stored card. */
export function holdRequest(tokenId = 'stored_ok') {
  return { ...WHO, requestId: uuidv7(), tokenId, amount: 10_000n, currency: 'EUR' };
}
export type Hold = ReturnType<typeof holdRequest>;

export function captureRequest(hold: Hold, amount = hold.amount) {
  const { requestId: authorizationRequestId, ...rest } = hold;
  return { ...rest, requestId: uuidv7(), authorizationRequestId, amount, finalCapture: true };
}

export function voidRequest({ requestId: authorizationRequestId, merchantId, account }: Hold) {
  return { requestId: uuidv7(), authorizationRequestId, merchantId, account };
}

export function refundRequest(hold: Hold, capture: { requestId: string }, amount: bigint) {
  return { ...voidRequest(hold), captureRequestId: capture.requestId, amount, currency: hold.currency };
}

export function inquiryOf(hold: Hold, requestId = hold.requestId, kind = EntryKind.AUTHORIZATION) {
  const { merchantId, account, amount, currency } = hold;
  const authorizationRequestId = requestId === hold.requestId ? '' : hold.requestId;
  const createdAt = timestampNow();
  return { requestId, fence: true, merchantId, account, kind, authorizationRequestId, amount, currency, createdAt };
}
