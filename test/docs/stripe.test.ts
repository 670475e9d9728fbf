import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { credentials } from '@grpc/grpc-js';
import Stripe from 'stripe';
import { parse } from 'yaml';
import { openChannel } from '../../platform/grpc-client.ts';
import { Answer, ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { parseProcessors } from '../../services/core/processor/processor-settings.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { SANDBOX_SETTINGS } from '../../services/sandbox/settings.ts';
import { STRIPE_SETTINGS } from '../../services/stripe/settings.ts';
import { EVENT_TYPES } from '../../services/stripe/webhook/receive.ts';
import { createDatabase, type TestDatabase } from '../database.ts';
import { API_KEY, type FakeStripe, startFakeStripe } from '../services/stripe/fake/fake-stripe.ts';
import { captureRequest, holdRequest, PROCESSOR_CREDENTIAL, PROCESSOR_TOKEN } from '../services/stripe/fixture.ts';
import { namedCode, readCodeBlocks } from './code-blocks.ts';

const code = namedCode('stripe.md');
const SECRET = 'whsec_of_a_reader';

describe('docs/stripe.md', () => {
  let stripe: FakeStripe;
  let database: TestDatabase;
  let adapter: ChildProcess;
  let ports: { grpc: number; webhook: number };

  before(async () => {
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

  const bash = async (script: string, environment: Record<string, string> = {}, cwd = process.cwd()) => {
    const env = { PATH: process.env.PATH, ...environment };
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { env, cwd })).stdout;
  };

  it('names the ports of the processes for core', async () => {
    const named = parseProcessors((await bash(`${code('processors')}echo $PROCESSORS`)).trim());
    const { shape } = STRIPE_SETTINGS;
    const ports = [SANDBOX_SETTINGS.shape.SANDBOX_PORT, shape.STRIPE_PORT].map((port) => port.parse(undefined));
    assert.deepEqual(
      named.map(({ name, address }) => [name, address]),
      [
        ['sandbox', `127.0.0.1:${ports[0]}`],
        ['stripe', `127.0.0.1:${ports[1]}`],
      ],
    );
    const webhookPort = shape.STRIPE_WEBHOOK_PORT.parse(undefined);
    assert.match(code('start'), new RegExp(`^STRIPE_WEBHOOK_PORT=${webhookPort} `));
  });

  it('gives the secrets of both endpoints in a form that is taken', async () => {
    const secrets = (await bash(`${code('connect')}echo $STRIPE_WEBHOOK_SECRET`)).trim();
    assert.equal(STRIPE_SETTINGS.shape.STRIPE_WEBHOOK_SECRET.parse(secrets), secrets);
  });

  it('makes what the services of Compose need', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-env-'));
    const keys = { STRIPE_API_KEY: API_KEY, STRIPE_WEBHOOK_SECRET: SECRET };
    await bash(code('compose-env'), keys, directory);
    const made = (await readFile(join(directory, '.env'), 'utf8')).trim().split('\n');
    await rm(directory, { recursive: true });
    const compose = parse(await readFile('docker-compose.yml', 'utf8'), { merge: true });
    const { stripe, 'stripe-ledger': ledger } = compose.services;
    const needed = JSON.stringify([stripe.environment, ledger.environment]).match(/(?<=\$\{)\w+/g) ?? [];
    assert.deepEqual(made.map((line) => line.split('=')[0]).sort(), [...new Set([...needed, 'PROCESSORS'])].sort());
    const [, profile = ''] = /^docker compose --profile (\w+) up -d\n$/.exec(code('compose')) ?? [];
    assert.deepEqual([stripe.profiles, ledger.profiles], [[profile], [profile]]);
    assert.deepEqual(stripe.ports, ['127.0.0.1:8092:8092']);
  });

  it('judges nothing without a key', async () => {
    assert.match(await bash(code('conformance')), /skipped: STRIPE_API_KEY is not set/);
  });

  it('has no command that no test runs', () => {
    // Those of the second list: test/operate/stripe-launcher.test.ts.
    const here = ['keys', 'adapter', 'processors', 'compose-env', 'compose', 'events', 'connect', 'conformance'];
    const launcher = ['listen', 'start', 'merchant', 'hold', 'capture'];
    const names = readCodeBlocks('docs/stripe.md').map(({ name }) => name);
    assert.deepEqual(names.sort(), [...here, ...launcher].sort());
  });

  it('names the events that the adapter looks at', () => {
    assert.deepEqual(code('events').trim().split('\n'), [...EVENT_TYPES]);
  });
});
