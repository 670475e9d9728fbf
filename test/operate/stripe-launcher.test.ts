import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../platform/grpc-client.ts';
import { ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { removeDataDir } from '../../services/quickstart/data-dir.ts';
import type { QuickstartFile } from '../../services/quickstart/quickstart.ts';
import { keepSecrets } from '../../services/quickstart/secrets.ts';
import { type Answer, openShop } from '../../services/quickstart/shop.ts';
import { namedCode, readCodeBlocks } from '../docs/code-blocks.ts';
import { API_KEY, type FakeStripe, startFakeStripe } from '../services/stripe/fake/fake-stripe.ts';
import { type Launched, launch, launchSettings, processesOf, quickstartFile } from './launched.ts';

describe('npm start with a Stripe key', () => {
  let dataDir: string;
  let stripe: FakeStripe;
  let settings: Record<string, string>;
  let launched: Launched;

  before(async function () {
    // Processes are found in /proc.
    if (process.platform !== 'linux') this.skip();
    dataDir = await mkdtemp(`${tmpdir()}/holdfast-stripe-`);
    // An ordinary account, without the card features of IC+ pricing, whose events nobody forwards.
    stripe = await startFakeStripe({ hasFeatures: false });
    const keys = { STRIPE_API_KEY: API_KEY, STRIPE_WEBHOOK_SECRET: 'whsec_1', STRIPE_API_BASE: stripe.origin };
    settings = { ...(await launchSettings(dataDir)), ...keys, ...started() };
  });

  after(async () => {
    if (dataDir === undefined) return;
    for (const { pid } of await processesOf(dataDir)) process.kill(pid, 'SIGKILL');
    await removeDataDir(dataDir);
    await stripe.close();
  });

  it('exits with one line that names the setting when Stripe rejects the key', async () => {
    const wrong = launch({ ...settings, STRIPE_API_KEY: 'sk_test_wrong' });
    assert.equal(await wrong.ended, 1);
    assert.match(wrong.output(), /stripe did not start: .*STRIPE_API_KEY: Stripe rejects this key\n/);
  });

  it('starts the adapter, and prints its address', async () => {
    launched = launch(settings);
    await launched.printed('Ctrl-C stops everything');
    const file = await quickstartFile(dataDir);
    const { processorUrl = '', webhookUrl = '' } = file.stripe ?? {};
    assert(launched.output().includes(`Stripe events to ${webhookUrl}`));
    assert.equal(new URL(webhookUrl).port, settings.STRIPE_WEBHOOK_PORT);
    assert(!launched.output().includes(API_KEY));
    assert.equal((await fetch(webhookUrl, { method: 'POST', body: '{}' })).status, 400);
    const { stripeCredential: token } = await keepSecrets(dataDir);
    const channel = openChannel({
      address: processorUrl,
      credentials: credentials.createInsecure(),
      token,
      timeoutMs: 5_000,
    });
    assert.equal((await channel.client(ProcessorService).describe({})).name, 'stripe');
    channel.close();
  });

  it('takes what the Stripe CLI forwards by the command of docs/stripe.md', async () => {
    const bin = await mkdtemp(`${tmpdir()}/holdfast-cli-`);
    // In place of the Stripe CLI: `listen --forward-to ADDRESS` forwards one event, without a signature.
    const cli =
      '#!/bin/sh\n[ "$1 $2" = "listen --forward-to" ] && curl -sS -o /dev/null -w "%{http_code}" --data {} "$3"\n';
    await writeFile(`${bin}/stripe`, cli, { mode: 0o755 });
    const { stdout } = await promisify(execFile)('bash', ['-euc', namedCode('stripe.md')('listen')], {
      env: { PATH: `${bin}:${process.env.PATH}` },
    });
    await rm(bin, { recursive: true });
    assert.equal(stdout, '400');
  });

  it('leads from the key to a captured hold by the commands of docs/stripe.md, verbatim', async () => {
    const [first] = readCodeBlocks('docs/merchants.md').filter(({ code }) => code.startsWith('DATA='));
    const walk = [first?.code, ...['merchant', 'hold', 'capture'].map(namedCode('stripe.md'))];
    const environment = { PATH: process.env.PATH, DATA_DIR: dataDir };
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', walk.join('\n')], {
      env: environment,
      timeout: 300_000,
    });
    const [hold, capture] = stdout.split(/(?<=})\n?(?={)/).map((text) => JSON.parse(text));
    assert.deepEqual(
      [hold.status, hold.amount, capture.status, capture.amountCaptured],
      ['IN_PROGRESS', 1050, 'OK', 400],
    );
    assert.deepEqual([capture.preauthorizationStatus, capture.amountReleased], ['CAPTURED', 650]);
    const intents = stripe.requests.map(({ request }) => request).filter((request) => /capture$/.test(request));
    assert.deepEqual(intents, ['POST /v1/payment_intents/…/capture']);
  });

  it('moves an existing merchant to Stripe by one call of an operator', async () => {
    const file = await quickstartFile(dataDir);
    const shop = openShop(file);
    assert.equal((await shop.post('/preauthorization', holdOf('pm_card_visa'))).body.code, 'TOKEN_INVALID');
    assert.equal((await putProcessor(file, { processor: 'stripe' })).status, 200);
    const placed = await untilThere(() => shop.post('/preauthorization', holdOf('pm_card_visa')));
    assert.equal(placed.status, 201);
    assert.equal((await shop.post('/preauthorization', holdOf('tok_sandbox_ok'))).body.code, 'TOKEN_INVALID');
  });

  it('rejects a processor that PROCESSORS does not name, and reserves nothing at an unknown account', async () => {
    const file = await quickstartFile(dataDir);
    const shop = openShop(file);
    const wrong = await putProcessor(file, { processor: 'adyen' });
    assert.equal(wrong.status, 400);
    assert.deepEqual(wrong.body.errors, [
      { field: 'contract.processor', message: 'is not one of the setting PROCESSORS: sandbox, stripe' },
    ]);
    assert.equal((await putProcessor(file, { processor: 'stripe', processorAccount: 'acct_nobody' })).status, 200);
    const refused = await untilThere(() => shop.post('/preauthorization', holdOf('pm_card_visa')), 502);
    assert.equal(refused.body.processorCode, 'not_permitted');
    const operation = await shop.get(`/operations/${refused.body.requestId}`);
    assert.equal(operation.body.status, 'KO');
  });

  it('stops the adapter with the other processes', async () => {
    launched.process.kill('SIGINT');
    assert.equal(await launched.ended, 0);
    assert.deepEqual(await processesOf(dataDir), []);
  });
});

/** What docs/stripe.md sets for `npm start`, which is the launcher. */
function started(): Record<string, string> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  assert.match(scripts.start, /^exec env (\w+=\S+ )*node services\/quickstart\/index\.ts$/);
  const [, name = '', value = ''] = /^(\w+)=(\d+) npm start\n$/.exec(namedCode('stripe.md')('start')) ?? [];
  return { [name]: value };
}

const holdOf = (tokenId: string) => ({ tokenId, amount: 1_050, currency: 'EUR', terminalId: 'till-1', userId: 'ann' });

/** Changes only the processor in the demo merchant's contract. */
async function putProcessor(file: QuickstartFile, place: { processor: string; processorAccount?: string }) {
  const url = `${file.baseUrl}/operator/merchants/${file.merchantId}`;
  const headers = { authorization: `Bearer ${file.operatorToken}`, 'content-type': 'application/json' };
  const { name, contract } = (await (await fetch(url, { headers })).json()) as { name: string; contract: object };
  const body = JSON.stringify({ name, contract: { ...contract, ...place } });
  const response = await fetch(url, { method: 'PUT', headers, body });
  return { status: response.status, body: (await response.json()) as { errors?: object[] } };
}

/** Repeats a call, for 20 s at most: core uses the contract of a second ago, or has not reached the adapter yet. */
async function untilThere(call: () => Promise<Answer>, status = 201): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const answer = await call();
    if (answer.status === status || tries === 200) return answer;
    await delay(100);
  }
}
