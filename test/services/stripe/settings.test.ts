import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../../../platform/adapter/postgres/database.ts';
import { migrate } from '../../../platform/adapter/postgres/migrate.ts';
import { readSettings } from '../../../platform/settings.ts';
import { ENTRIES } from '../../../services/stripe/ledger/entry.ts';
import { STRIPE_SCHEMA } from '../../../services/stripe/ledger/schema.ts';
import { STRIPE_SETTINGS } from '../../../services/stripe/settings.ts';
import { createDatabase, type TestDatabase } from '../../database.ts';
import { API_KEY, type FakeStripe, RESTRICTED_KEY, startFakeStripe } from './fake/fake-stripe.ts';

const GIVEN = {
  DATABASE_URL: 'postgres://localhost/holdfast',
  STRIPE_API_KEY: API_KEY,
  STRIPE_WEBHOOK_SECRET: 'whsec_one,whsec_two',
  PROCESSOR_TOKEN: 'p'.repeat(32),
  PROCESSOR_CREDENTIAL: 'c'.repeat(32),
};

describe('the settings of the adapter to Stripe', () => {
  it('have defaults for all except secrets and the database', () => {
    const settings = readSettings(STRIPE_SETTINGS, GIVEN);
    assert.equal(settings.STRIPE_API_BASE, 'https://api.stripe.com');
    assert.equal(settings.STRIPE_PORT, 50_062);
  });

  it('are all named when they are missing', () => {
    assert.throws(
      () => readSettings(STRIPE_SETTINGS, {}),
      (error: Error) => {
        for (const name of Object.keys(GIVEN)) assert(error.message.includes(`${name} is not set`), name);
        return true;
      },
    );
  });

  for (const [name, value] of [
    ['STRIPE_API_KEY', 'pk_test_publishable'],
    ['STRIPE_API_KEY', 'sk_prod_1'],
    ['STRIPE_WEBHOOK_SECRET', 'whsec_one, whsec_two'],
    ['STRIPE_API_BASE', 'http://api.stripe.com'],
    ['STRIPE_API_BASE', 'https://api.stripe.com/v1'],
    ['STRIPE_API_BASE', 'http://127.0.0.1.evil.example'],
    ['STRIPE_API_BASE', 'https://user:word@api.stripe.com'],
    ['STRIPE_STATEMENT_SUFFIXES', 'ROOM BAR'],
    ['STRIPE_STATEMENT_SUFFIXES', '{"shop": "217"}'],
    ['STRIPE_STATEMENT_SUFFIXES', '{"shop": "<BAR>"}'],
    ['STRIPE_TIMEOUT_MS', '5'],
    ['PROCESSOR_CREDENTIAL', 'short'],
  ] as const) {
    it(`are rejected without being quoted: ${name}=${value}`, () => {
      assert.throws(
        () => readSettings(STRIPE_SETTINGS, { ...GIVEN, [name]: value }),
        (error: Error) => {
          assert(error.message.includes(name) && !error.message.includes(value));
          assert(!error.message.includes('\n'));
          return true;
        },
      );
    });
  }
});

describe('the ledger of the adapter', () => {
  it('is a database that the first of several adapters creates', async () => {
    const url = new URL(process.env.TEST_DATABASE_ADMIN_URL ?? '');
    const admin = new pg.Client({ connectionString: url.href });
    await admin.connect();
    url.pathname = `/ledger_${Date.now()}`;
    await Promise.all([
      migrate(url.href, STRIPE_SCHEMA),
      migrate(url.href, STRIPE_SCHEMA),
      migrate(url.href, STRIPE_SCHEMA),
    ]);
    const ledger = openDatabase(url.href, 'stripe');
    assert.equal(await ENTRIES.find(ledger.query, '00000000-0000-7000-8000-000000000000'), undefined);
    await ledger.close();
    await admin.query(`drop database ${url.pathname.slice(1)} with (force)`);
    await admin.end();
  });
});

describe('the start of the adapter', () => {
  let stripe: FakeStripe;
  let database: TestDatabase;
  before(async () => {
    stripe = await startFakeStripe();
    database = await createDatabase();
  });
  after(async () => {
    await stripe.close();
    await database.drop();
  });

  for (const [key, message] of [
    ['sk_test_thiskeyisnotgood', 'holdfast stripe: STRIPE_API_KEY: Stripe rejects this key\n'],
    [RESTRICTED_KEY, 'holdfast stripe: STRIPE_API_KEY: this key may not read PaymentIntents\n'],
  ] as const) {
    it(`fails with one line for an unusable key: ${message.trim()}`, async () => {
      const env = { ...GIVEN, STRIPE_API_KEY: key, STRIPE_API_BASE: stripe.origin, DATABASE_URL: database.url };
      const started = promisify(execFile)(process.execPath, ['services/stripe/index.ts'], { env, timeout: 20_000 });
      await assert.rejects(started, (error: Error & { stderr: string; code: number }) => {
        assert.deepEqual([error.code, error.stderr], [1, message]);
        return true;
      });
    });
  }
});
