/**
 * `npm run conformance:stripe`: judges the adapter on Stripe itself, by the conformance kit. STRIPE_API_KEY is a test
 * key, DATABASE_URL a database that is free to fill, STRIPE_WEBHOOK_SECRET, if any, that of an endpoint that leads to
 * port 50963. Without a key there is nothing to judge, and that is no failure. Events about disputes take minutes at
 * Stripe and are not judged.
 */
import { spawn } from 'node:child_process';

const PROFILE = 'services/stripe/conformance.json';
const { STRIPE_API_KEY: key = '', STRIPE_WEBHOOK_SECRET: secret = '', DATABASE_URL: databaseUrl = '' } = process.env;

if (key === '') {
  process.stdout.write('conformance of Stripe skipped: STRIPE_API_KEY is not set\n');
} else if (!/^(sk|rk)_test_/.test(key)) {
  fail('STRIPE_API_KEY: must be a test key');
} else if (databaseUrl === '') {
  fail('DATABASE_URL is not set');
} else {
  const addresses = ['--processor', '127.0.0.1:50962', '--events', '127.0.0.1:50951'];
  const tokens = ['--credential', 'a-credential-for-the-conformance-kit'];
  const args = ['services/conformance/index.ts', '--profile', PROFILE, ...addresses, ...tokens];
  const env = { ...process.env, STRIPE_WEBHOOK_SECRET: secret || 'whsec_without_webhooks' };
  spawn(process.execPath, args, { stdio: 'inherit', env }).on('exit', (code) => {
    process.exitCode = code ?? 2;
  });
}

function fail(line: string): void {
  process.stderr.write(`holdfast conformance:stripe: ${line}\n`);
  process.exitCode = 2;
}
