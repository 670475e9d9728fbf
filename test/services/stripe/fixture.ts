import assert from 'node:assert/strict';
import { timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import Stripe from 'stripe';
import { v7 as uuidv7 } from 'uuid';
import { type GrpcClient, openChannel } from '../../../platform/grpc-client.ts';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import {
  Answer,
  type Entry,
  EntryKind,
  ProcessorService,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Adapter, type Given, startAdapter } from '../../../services/stripe/adapter.ts';
import type { CrashPoint } from '../../../services/stripe/crash-points.ts';
import { STRIPE_SETTINGS } from '../../../services/stripe/settings.ts';
import { createDatabase, type TestDatabase } from '../../database.ts';
import { type FakeCore, startFakeCore } from '../sandbox/fake-core.ts';
import type { Event, Intent } from './fake/account.ts';
import { API_KEY, type FakeStripe, startFakeStripe } from './fake/fake-stripe.ts';

export const PROCESSOR_CREDENTIAL = 'a-credential-that-only-core-may-show';
export const PROCESSOR_TOKEN = 'a-token-that-the-adapter-shows-to-core';
export const METRICS_TOKEN = 'a-token-that-the-scraper-shows-to-the-adapter';
export const WEBHOOK_SECRET = 'whsec_the_adapters_own_endpoint';
export const CONNECT_SECRET = 'whsec_the_endpoint_of_connected_accounts';

/** The adapter with a database of its own, a client with core's credential, a fake core and a fake Stripe. */
export interface Fixture {
  readonly stripe: FakeStripe;
  readonly core: FakeCore;
  readonly database: TestDatabase;
  /** Everything logged. */
  readonly logged: string[];
  client: GrpcClient<typeof ProcessorService>;
  adapter: Adapter;
  /** The point where the adapter dies next: it throws there until it is restarted. */
  dieAt: CrashPoint | undefined;
  /** Advances the time of the adapter and of Stripe. */
  advance(ms: number): void;
  /** Restarts the adapter on its database. */
  restart(): Promise<void>;
  /** Sends a signed event of Stripe's to the adapter; returns the status. */
  deliver(event: Event, secret?: string): Promise<number>;
  /** Sends all unsent events of an account, then lets the adapter process them and report. */
  deliverAll(account?: string): Promise<void>;
  /** Places a hold; asserts that it is approved. */
  placed(token?: string, account?: string): Promise<Hold>;
  /** The adapter's books. */
  entries(authorizationRequestId?: string): Promise<Entry[]>;
  /** Runs a statement in the adapter's database. */
  sql(text: string, values?: unknown[]): Promise<void>;
  close(): Promise<void>;
}

export async function startFixture(): Promise<Fixture> {
  const [database, stripe, core] = await Promise.all([createDatabase(), startFakeStripe(), startFakeCore()]);
  const logged: string[] = [];
  const log = openLog('stripe', 'trace', { destination: { write: (line) => void logged.push(line) } });
  let skewMs = 0;
  const delivered = new Set<string>();
  const start = () => startAdapter(settingsOf(database.url, stripe.origin, core.url), given);
  const given: Given = {
    log,
    now: () => new Date(Date.now() + skewMs),
    patience: { budgetMs: 20_000, firstWaitMs: 10 },
    leaseMs: 2_000,
    reach(point) {
      if (fixture.dieAt === point) throw new Error(`died: ${point}`);
    },
  };
  const open = () => {
    const address = `127.0.0.1:${fixture.adapter.grpcPort}`;
    const security = credentials.createInsecure();
    return openChannel({ address, credentials: security, token: PROCESSOR_CREDENTIAL, timeoutMs: 60_000 });
  };
  const fixture = { stripe, core, database, logged, dieAt: undefined } as unknown as Fixture;
  fixture.adapter = await start();
  let channel = open();
  return Object.assign(fixture, {
    client: channel.client(ProcessorService),
    advance(ms: number) {
      skewMs += ms;
      stripe.advance(ms / 1000);
    },
    async restart() {
      channel.close();
      await fixture.adapter.close();
      fixture.dieAt = undefined;
      fixture.adapter = await start();
      channel = open();
      fixture.client = channel.client(ProcessorService);
    },
    async deliver(event: Event, secret = WEBHOOK_SECRET) {
      delivered.add(event.id);
      const payload = JSON.stringify(event);
      const header = Stripe.webhooks.generateTestHeaderString({ payload, secret });
      return postEvent(fixture, payload, header);
    },
    async deliverAll(account = '') {
      for (const event of stripe.account(account).events) {
        if (!delivered.has(event.id)) assert.equal(await fixture.deliver(event), 200);
      }
      await fixture.adapter.dealWithNotices();
      await fixture.adapter.reportDue();
    },
    async placed(token?: string, account?: string) {
      const hold = holdRequest(token, account);
      assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.APPROVED);
      return hold;
    },
    async entries(authorizationRequestId = '') {
      return (await fixture.client.listEntries({ authorizationRequestId })).entries;
    },
    async sql(text: string, values: unknown[] = []) {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(text, values);
      await client.end();
    },
    async close() {
      channel.close();
      await fixture.adapter.close();
      core.close();
      await stripe.close();
      await database.drop();
    },
  });
}

/** Settings of an adapter with fakes. */
function settingsOf(databaseUrl: string, apiBase: string, coreUrl: string) {
  return readSettings(STRIPE_SETTINGS, {
    STRIPE_PORT: '0',
    STRIPE_WEBHOOK_PORT: '0',
    STRIPE_METRICS_PORT: '0',
    STRIPE_METRICS_TOKEN: METRICS_TOKEN,
    DATABASE_URL: databaseUrl,
    STRIPE_API_KEY: API_KEY,
    STRIPE_API_BASE: apiBase,
    STRIPE_TIMEOUT_MS: '1500',
    STRIPE_STATEMENT_SUFFIXES: '{"acme": "ROOM BAR"}',
    STRIPE_WEBHOOK_SECRET: `${WEBHOOK_SECRET},${CONNECT_SECRET}`,
    CORE_URL: coreUrl,
    PROCESSOR_TOKEN,
    PROCESSOR_CREDENTIAL,
  });
}

/** Posts a body to the webhook endpoint; returns the status. */
export async function postEvent(fixture: Fixture, body: string, signature?: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${fixture.adapter.webhookPort}/webhook/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(signature !== undefined && { 'stripe-signature': signature }) },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

const WHO = { merchantId: 'acme', account: '', terminalId: 'till-1', userId: 'user-1' };

/** A hold of 100.00 EUR with a token. */
export function holdRequest(tokenId = 'pm_card_visa', account = '') {
  return { ...WHO, account, requestId: uuidv7(), tokenId, amount: 10_000n, currency: 'EUR' };
}
export type Hold = ReturnType<typeof holdRequest>;

/** A capture that belongs to such a hold. */
export function captureRequest(hold: Hold, amount = 10_000n, finalCapture = false) {
  const { requestId: authorizationRequestId, ...rest } = hold;
  return { ...rest, requestId: uuidv7(), authorizationRequestId, amount, finalCapture };
}

/** Fields of other operations on such a hold. */
export function voidRequest({ requestId: authorizationRequestId, merchantId, account }: Hold) {
  return { requestId: uuidv7(), authorizationRequestId, merchantId, account };
}
export function incrementRequest(hold: Hold, amount: bigint) {
  return { ...voidRequest(hold), amount, currency: hold.currency };
}
export function refundRequest(hold: Hold, capture: { requestId: string }, amount: bigint) {
  return { ...incrementRequest(hold, amount), captureRequestId: capture.requestId };
}

/** An inquiry about an operation on such a hold, or about the hold itself. */
export function inquiryOf(
  hold: Hold,
  requestId = hold.requestId,
  kind = EntryKind.AUTHORIZATION,
  amount = hold.amount,
) {
  const { merchantId, account, currency } = hold;
  const authorizationRequestId = requestId === hold.requestId ? '' : hold.requestId;
  const createdAt = timestampNow();
  return { requestId, fence: true, merchantId, account, kind, authorizationRequestId, amount, currency, createdAt };
}

/** A checkout of 100.00 EUR, open for an hour. */
export function checkoutRequest(
  terms: { saveCard?: boolean; returnUrl?: string; account?: string; amount?: bigint; currency?: string } = {},
  nowMs = Date.now(),
) {
  const expiresAt = timestampFromMs(nowMs + 60 * 60_000);
  const usual = { ...WHO, requestId: uuidv7(), merchantName: 'Acme', amount: 10_000n, currency: 'EUR', expiresAt };
  return { ...usual, tokenId: '', ...terms };
}

/** Returns the PaymentIntent of an authorization in the fake Stripe. */
export function intentOf(fixture: Fixture, requestId: string, account = ''): Intent {
  const found = intentsOf(fixture, requestId, account);
  assert.equal(found.length, 1, 'one PaymentIntent');
  return found[0] as Intent;
}
export function intentsOf(fixture: Fixture, requestId: string, account = ''): Intent[] {
  const intents = [...fixture.stripe.account(account).intents.values()];
  return intents.filter(({ metadata }) => metadata.holdfast_request_id === requestId);
}

/**
 * Asserts that the adapter's books agree with Stripe's on an authorization: nothing charged twice, nothing forgotten.
 */
export async function booksAgree(fixture: Fixture, requestId: string, account = ''): Promise<Entry> {
  const entries = await fixture.entries(requestId);
  const authorization = entries.find((entry) => entry.requestId === requestId);
  assert(authorization, 'the books have the authorization');
  const intents = intentsOf(fixture, requestId, account);
  const reserved = intents.filter(({ status }) => status === 'requires_capture' || status === 'succeeded');
  if (authorization.answer !== Answer.APPROVED) {
    assert.deepEqual(reserved, [], 'nothing is reserved that the books do not contain');
    return authorization;
  }
  const [intent] = intents;
  assert(intent && intents.length === 1, 'one PaymentIntent');
  const total = authorization.amount + authorization.incremented;
  assert.equal(BigInt(intent.amount), total, 'amount');
  assert.equal(BigInt(intent.amount_received), authorization.captured, 'captured');
  assert.equal(BigInt(intent.amount_capturable), total - authorization.captured - authorization.voided, 'left');
  const captures = entries.filter(({ kind, answer }) => kind === EntryKind.CAPTURE && answer === Answer.APPROVED);
  assert.equal(sumOf(captures), authorization.captured, 'captures');
  const refunds = [...fixture.stripe.account(account).refunds.values()].filter(
    ({ payment_intent, status }) => payment_intent === intent.id && status === 'succeeded',
  );
  const refunded = refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  assert.equal(refunded, authorization.refunded, 'refunded');
  return authorization;
}

function sumOf(entries: readonly Entry[]): bigint {
  return entries.reduce((sum, { amount }) => sum + amount, 0n);
}
