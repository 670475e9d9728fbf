import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { credentials } from '@grpc/grpc-js';
import Stripe from 'stripe';
import { openChannel } from '../../platform/grpc-client.ts';
import { Answer, ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { freePort } from '../../services/quickstart/ports.ts';
import { EVENT_TYPES } from '../../services/stripe/webhook/receive.ts';
import { createDatabase, type TestDatabase } from '../database.ts';
import { API_KEY, type FakeStripe, startFakeStripe } from '../services/stripe/fake/fake-stripe.ts';
import { captureRequest, holdRequest, PROCESSOR_CREDENTIAL, PROCESSOR_TOKEN } from '../services/stripe/fixture.ts';
import { namedCode } from './code-blocks.ts';

const code = namedCode('stripe.md');
const SECRET = 'whsec_of_a_reader';

describe('docs/stripe.md', () => {
  let stripe: FakeStripe;
  let database: TestDatabase;
  let adapter: ChildProcess;
  let ports: { grpc: number; webhook: number };

  before(async function () {
    this.timeout(40_000);
    [stripe, database] = await Promise.all([startFakeStripe({ hasFeatures: false }), createDatabase()]);
    ports = { grpc: await freePort(), webhook: await freePort() };
    const keys = code('keys').replace('sk_test_YOUR_KEY', API_KEY).replace('whsec_YOUR_SECRET', SECRET);
    adapter = spawn('sh', ['-euc', `${keys}exec ${code('adapter').replace('node', process.execPath)}`], {
      env: {
        STRIPE_API_BASE: stripe.origin,
        STRIPE_PORT: String(ports.grpc),
        STRIPE_WEBHOOK_PORT: String(ports.webhook),
        DATABASE_URL: database.url,
        PROCESSOR_TOKEN,
        PROCESSOR_CREDENTIAL,
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    await once(adapter, 'message');
  });

  after(async () => {
    if (adapter?.exitCode === null) {
      adapter.kill('SIGTERM');
      await once(adapter, 'exit');
    }
    await stripe?.close();
    await database?.drop();
  });

  it('leads from a key to a captured hold on an ordinary account, without webhooks', async () => {
    const [, token = ''] = /"tokenId": "(\w+)"/.exec(code('hold')) ?? [];
    const address = `127.0.0.1:${ports.grpc}`;
    const channel = openChannel({
      address,
      credentials: credentials.createInsecure(),
      token: PROCESSOR_CREDENTIAL,
      timeoutMs: 9_000,
    });
    const client = channel.client(ProcessorService);
    const hold = holdRequest(token);
    assert.equal((await client.authorize(hold)).result?.answer, Answer.APPROVED);
    assert.equal((await client.capture(captureRequest(hold, 400n, true))).result?.answer, Answer.APPROVED);
    channel.close();
  });

  it('names the address that takes events', async () => {
    const [, path = ''] = /8092(\/\S+)/.exec(code('listen')) ?? [];
    const payload = JSON.stringify({ id: 'evt_1', object: 'event', type: 'customer.created', data: { object: {} } });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET });
    const response = await fetch(`http://127.0.0.1:${ports.webhook}${path}`, {
      method: 'POST',
      headers: { 'stripe-signature': signature },
      body: payload,
    });
    assert.equal(response.status, 200);
  });

  it('names the events that the adapter looks at', () => {
    assert.deepEqual(code('events').trim().split('\n'), [...EVENT_TYPES]);
  });
});
