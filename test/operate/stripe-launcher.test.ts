import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../platform/grpc-client.ts';
import { ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { removeDataDir } from '../../services/quickstart/data-dir.ts';
import { keepSecrets } from '../../services/quickstart/secrets.ts';
import { API_KEY, type FakeStripe, startFakeStripe } from '../services/stripe/fake/fake-stripe.ts';
import { type Launched, launch, launchSettings, processesOf, quickstartFile } from './launched.ts';

describe('npm start with a Stripe key', function () {
  this.timeout(90_000);
  let dataDir: string;
  let stripe: FakeStripe;
  let settings: Record<string, string>;
  let launched: Launched;

  before(async function () {
    // The processes are found in /proc.
    if (process.platform !== 'linux') this.skip();
    dataDir = await mkdtemp(`${tmpdir()}/holdfast-stripe-`);
    stripe = await startFakeStripe();
    const keys = { STRIPE_API_KEY: API_KEY, STRIPE_WEBHOOK_SECRET: 'whsec_1', STRIPE_API_BASE: stripe.origin };
    settings = { ...(await launchSettings(dataDir)), ...keys };
  });

  after(async () => {
    if (dataDir === undefined) return;
    for (const { pid } of await processesOf(dataDir)) process.kill(pid, 'SIGKILL');
    await removeDataDir(dataDir);
    await stripe.close();
  });

  it('ends with one line that names the setting when Stripe rejects the key', async () => {
    const wrong = launch({ ...settings, STRIPE_API_KEY: 'sk_test_wrong' });
    assert.equal(await wrong.ended, 1);
    assert.match(wrong.output(), /stripe did not start: .*STRIPE_API_KEY: Stripe rejects this key\n/);
  });

  it('starts the adapter, and says where it is', async () => {
    launched = launch(settings);
    await launched.printed('Ctrl-C stops everything');
    const file = await quickstartFile(dataDir);
    const { processorUrl = '', webhookUrl = '' } = file.stripe ?? {};
    assert(launched.output().includes(`Stripe events to ${webhookUrl}`));
    assert(!launched.output().includes(API_KEY));
    assert.equal((await fetch(webhookUrl, { method: 'POST', body: '{}' })).status, 400);
    const { processorCredential: token } = await keepSecrets(dataDir);
    const channel = openChannel({
      address: processorUrl,
      credentials: credentials.createInsecure(),
      token,
      timeoutMs: 5_000,
    });
    assert.equal((await channel.client(ProcessorService).describe({})).name, 'stripe');
    channel.close();
  });

  it('stops it with the rest', async () => {
    launched.process.kill('SIGINT');
    assert.equal(await launched.ended, 0);
    assert.deepEqual(await processesOf(dataDir), []);
  });
});
