import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../services/quickstart/ports.ts';
import { atNight } from '../at-night.ts';
import { createDatabase, type TestDatabase } from '../database.ts';
import { liveByItself } from '../services/stripe/fake/by-itself.ts';
import { API_KEY, type FakeStripe, startFakeStripe } from '../services/stripe/fake/fake-stripe.ts';

const SECRET = 'whsec_of_the_conformance_run';

describe('npm run conformance with the Stripe adapter', () => {
  let directory: string;
  let stripe: FakeStripe;
  let database: TestDatabase;
  let happening: ReturnType<typeof liveByItself>;
  let ports: Record<'grpc' | 'webhook' | 'events', number>;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
    [stripe, database] = await Promise.all([startFakeStripe(), createDatabase()]);
    ports = { grpc: await freePort(), webhook: await freePort(), events: await freePort() };
    happening = liveByItself(stripe, `http://127.0.0.1:${ports.webhook}/webhook/stripe`, SECRET);
  });
  after(async () => {
    await happening.stop();
    await stripe.close();
    await database.drop();
    rmSync(directory, { recursive: true });
  });

  it('finds no fault over a fake Stripe, however often the adapter is killed', async () => {
    const profile = JSON.parse(readFileSync('services/stripe/conformance.json', 'utf8'));
    Object.assign(profile.tokens, {
      reversed: 'pm_card_createDispute',
      reversedReinstated: 'pm_fake_disputeWon',
      reversedInPart: 'pm_fake_refundedInPart',
      endedEarly: 'pm_fake_expiresAtOnce',
    });
    const { env, command } = profile.process;
    Object.assign(env, {
      STRIPE_API_KEY: API_KEY,
      STRIPE_API_BASE: stripe.origin,
      STRIPE_WEBHOOK_SECRET: SECRET,
      STRIPE_PORT: `${ports.grpc}`,
      STRIPE_WEBHOOK_PORT: `${ports.webhook}`,
      DATABASE_URL: database.url,
      CORE_URL: `127.0.0.1:${ports.events}`,
    });
    command[0] = process.execPath;
    const file = join(directory, 'profile.json');
    writeFileSync(file, JSON.stringify(profile));
    const addresses = ['--processor', `127.0.0.1:${ports.grpc}`, '--events', `127.0.0.1:${ports.events}`];
    const tokens = ['--credential', env.PROCESSOR_CREDENTIAL, '--events-token', env.PROCESSOR_TOKEN];
    const { code, stdout, stderr } = await run([
      'services/conformance/index.ts',
      ...addresses,
      '--profile',
      file,
      ...tokens,
      '--kills',
      atNight('10', '1'),
    ]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^\d{3} passed, 0 failed, \d+ skipped, /m);
    booksAgree(stripe);
  });

  it('is skipped for Stripe itself when there is no key', async () => {
    const { code, stdout } = await run(['services/stripe/conformance.ts'], { STRIPE_API_KEY: '' });
    assert.equal(code, 0);
    assert.match(stdout, /skipped: STRIPE_API_KEY is not set/);
  });
});

/** Whatever was killed or interrupted, Stripe has one payment for each hold. */
function booksAgree(stripe: FakeStripe): void {
  const holds = [...stripe.account().intents.values()].filter(
    ({ status }) => status === 'requires_capture' || status === 'succeeded',
  );
  const names = holds.map(({ metadata }) => metadata.holdfast_request_id);
  assert(names.length > 100);
  assert.equal(new Set(names).size, names.length);
}

function run(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 10_000_000, env: { ...process.env, ...env } };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}
