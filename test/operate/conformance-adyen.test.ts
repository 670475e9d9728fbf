import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../services/quickstart/ports.ts';
import { atNight } from '../at-night.ts';
import { createDatabase, type TestDatabase } from '../database.ts';
import { notifyByItself } from '../services/adyen/fake/by-itself.ts';
import {
  API_KEY,
  type FakeAdyen,
  HMAC_KEY,
  MERCHANT_ACCOUNT,
  startFakeAdyen,
} from '../services/adyen/fake/fake-adyen.ts';

describe('npm run conformance with the Adyen adapter', () => {
  let directory: string;
  let adyen: FakeAdyen;
  let database: TestDatabase;
  let notifying: ReturnType<typeof notifyByItself>;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
    [adyen, database] = await Promise.all([startFakeAdyen(), createDatabase()]);
  });
  after(async () => {
    notifying?.stop();
    await adyen.close();
    await database.drop();
    rmSync(directory, { recursive: true });
  });

  it('finds no fault over a fake Adyen that repeats and reorders what it notifies, however often the adapter is killed', async () => {
    const [grpc, webhook, events, page] = [await freePort(), await freePort(), await freePort(), await freePort()];
    notifying = notifyByItself(adyen, `http://127.0.0.1:${webhook}/webhook/adyen`, { times: 2, shuffled: true });
    const profile = JSON.parse(readFileSync('services/adyen/conformance.json', 'utf8'));
    const { env, command } = profile.process;
    Object.assign(env, {
      ADYEN_API_BASE: adyen.origin,
      ADYEN_API_KEY: API_KEY,
      ADYEN_MERCHANT_ACCOUNT: MERCHANT_ACCOUNT,
      ADYEN_HMAC_KEY: HMAC_KEY,
      ADYEN_PORT: `${grpc}`,
      ADYEN_WEBHOOK_PORT: `${webhook}`,
      ADYEN_PAGE_ORIGIN: `http://127.0.0.1:${page}`,
      ADYEN_PAGE_PORT: `${page}`,
      DATABASE_URL: database.url,
      CORE_URL: `127.0.0.1:${events}`,
    });
    command[0] = process.execPath;
    profile.customer = { command: [process.execPath, 'test/services/adyen/fake/answer-issuer.ts'] };
    const file = join(directory, 'profile.json');
    writeFileSync(file, JSON.stringify(profile));
    const kills = ['--kills', atNight('10', '1')];
    const addresses = ['--processor', `127.0.0.1:${grpc}`, '--events', `127.0.0.1:${events}`, '--profile', file];
    const tokens = ['--credential', env.PROCESSOR_CREDENTIAL, '--events-token', env.PROCESSOR_TOKEN];
    const { code, stdout, stderr } = await run(['services/conformance/index.ts', ...addresses, ...tokens, ...kills]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^\d+ passed, 0 failed, \d+ skipped, /m);
    booksAgree(adyen);
  });
});

/** Whatever was killed, Adyen has one payment for each hold. */
function booksAgree({ payments }: FakeAdyen): void {
  const references = [...payments.values()].map(({ reference }) => reference);
  assert(references.length > 100);
  assert.equal(new Set(references).size, references.length);
}

function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 10_000_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}
