/** The service as `npm start` runs it, behind one trusted proxy, with its default limits. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { asOperator } from '../../../services/quickstart/as-operator.ts';
import { removeDataDir } from '../../../services/quickstart/data-dir.ts';
import { freeOuterPorts } from '../../../services/quickstart/ports.ts';
import { startQuickstart } from '../../../services/quickstart/quickstart.ts';
import { readSettings } from '../../../services/quickstart/settings.ts';
import { untilKnown } from '../../../services/quickstart/until-served.ts';
import { createDatabase } from '../../database.ts';
import { API_KEY, startFakeStripe } from '../../services/stripe/fake/fake-stripe.ts';
import type { Merchant } from './attack.ts';

export type Stack = Awaited<ReturnType<typeof openStack>>;

const STRIPE_SECRET = `whsec_${randomBytes(24).toString('base64')}`;

/** Starts it on a database of its own, with an adapter beside the sandbox. */
export async function openStack() {
  const database = await createDatabase();
  const stripe = await startFakeStripe();
  const dataDir = await mkdtemp(`${tmpdir()}/holdfast-edge-`);
  const own = {
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    REDIS_URL: '',
    TRUSTED_PROXY_HOPS: '1',
    STRIPE_API_KEY: API_KEY,
    STRIPE_WEBHOOK_SECRET: STRIPE_SECRET,
    STRIPE_API_BASE: stripe.origin,
  };
  const settings = readSettings({ ...process.env, ...own, ...(await freeOuterPorts()) });
  /** Lines of the launcher about processes that ended by themselves. */
  const reports: string[] = [];
  const report = (line: string) => void (line.includes('starting it again') && reports.push(line));
  const quickstart = await startQuickstart(settings, report, new AbortController().signal);
  const { file } = quickstart;
  return {
    file,
    reports,
    databaseUrl: database.url,
    stripeSecret: STRIPE_SECRET,
    /** Creates a merchant and waits until the gateway knows it. */
    async createMerchant(webhookUrl?: string): Promise<Merchant> {
      const merchantId = `m-${randomBytes(6).toString('hex')}`;
      const terms = { currencies: ['EUR'], terminals: ['till-1'], allowOct: true };
      const contract = { ...terms, ...(webhookUrl && { webhookUrl }) };
      const { apiKey, signingSecret } = await asOperator(file, (merchants) =>
        merchants.createMerchant({ merchantId, name: merchantId, contract, apiKeyManagesWebhook: true }),
      );
      await untilKnown(file.baseUrl, apiKey);
      return { merchantId, apiKey, signingSecret };
    },
    /** The size of all processes' logs so far, in bytes. */
    async logBytes(): Promise<number> {
      const names = (await readdir(`${dataDir}/logs`)).filter((name) => name.endsWith('.log'));
      const sizes = await Promise.all(names.map(async (name) => (await stat(`${dataDir}/logs/${name}`)).size));
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    async close(): Promise<void> {
      await quickstart.stop();
      await stripe.close();
      await removeDataDir(dataDir);
      await database.drop();
    },
  };
}
