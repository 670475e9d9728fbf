/** The processes of a deployment, with the settings that each of them gets. */
import type { ChildOptions } from './child.ts';
import type { DemoMerchants } from './demo-merchants.ts';
import { addressesOf, type House } from './house.ts';

/** The migration step. */
export function migrateStep(house: House, databaseUrl: string): ChildOptions {
  return child(house, 'migrate', 'services/core/migrate.ts', { DATABASE_URL: databaseUrl });
}

/** Core's RPC process. */
export function coreProcess(house: House, databaseUrl: string): ChildOptions {
  const { ports, secrets } = house;
  return child(house, 'core', 'services/core/index.ts', {
    ...coreCommon(house, databaseUrl),
    CORE_PORT: ports.CORE_PORT,
    CONNECT_PORT: ports.CONNECT_PORT,
    CORE_METRICS_PORT: ports.CORE_METRICS_PORT,
    GATEWAY_TOKEN: secrets.gatewayToken,
    SERVICE_TOKEN: secrets.serviceToken,
    OPERATOR_TOKEN: secrets.operatorToken,
    METRICS_TOKEN: secrets.metricsToken,
    PROCESSOR_SANDBOX_TOKEN: secrets.processorToken,
    PROCESSOR_STRIPE_TOKEN: isStripeOn(house) ? secrets.stripeToken : undefined,
    GATEWAY_ORIGIN: addressesOf(ports).baseUrl,
  });
}

/** The worker. Here both kinds of endpoint are on this machine, which a deployment would refuse. */
export function workerProcess(house: House, databaseUrl: string): ChildOptions {
  return child(house, 'worker', 'services/core/worker.ts', {
    ...coreCommon(house, databaseUrl),
    WORKER_METRICS_PORT: house.ports.WORKER_METRICS_PORT,
    OPERATOR_TOKEN: house.secrets.operatorToken,
    METRICS_TOKEN: house.secrets.metricsToken,
    WEBHOOK_ALLOWED_CIDRS: LOOPBACK,
    INTERNAL_ALLOWED_CIDRS: LOOPBACK,
    GATEWAY_ORIGIN: addressesOf(house.ports).baseUrl,
  });
}

/** The sandbox processor. */
export function sandboxProcess(house: House): ChildOptions {
  const { ports, secrets } = house;
  return child(house, 'sandbox', 'services/sandbox/index.ts', {
    SANDBOX_PORT: ports.SANDBOX_PORT,
    CHECKOUT_PORT: ports.CHECKOUT_PORT,
    CHECKOUT_BASE_URL: `http://127.0.0.1:${ports.CHECKOUT_PORT}`,
    SANDBOX_LEDGER: `${house.dataDir}/sandbox.sqlite`,
    CORE_URL: addressesOf(ports).coreUrl,
    PROCESSOR_TOKEN: secrets.processorToken,
    PROCESSOR_CREDENTIAL: secrets.processorCredential,
  });
}

/** The adapter to Stripe, with the database of its ledger. */
export function stripeProcess(house: House, ledgerUrl: string): ChildOptions {
  const { ports, secrets, settings } = house;
  return child(house, 'stripe', 'services/stripe/index.ts', {
    STRIPE_PORT: ports.STRIPE_PORT,
    STRIPE_WEBHOOK_PORT: ports.STRIPE_WEBHOOK_PORT,
    STRIPE_API_KEY: settings.STRIPE_API_KEY,
    STRIPE_WEBHOOK_SECRET: settings.STRIPE_WEBHOOK_SECRET,
    DATABASE_URL: ledgerUrl,
    CORE_URL: addressesOf(ports).coreUrl,
    PROCESSOR_TOKEN: secrets.stripeToken,
    PROCESSOR_CREDENTIAL: secrets.stripeCredential,
  });
}

/** The gateway. */
export function gatewayProcess(house: House): ChildOptions {
  return child(house, 'gateway', 'gateway/index.ts', {
    PORT: house.ports.PORT,
    CORE_URL: addressesOf(house.ports).coreUrl,
    GATEWAY_TOKEN: house.secrets.gatewayToken,
    METRICS_TOKEN: house.secrets.metricsToken,
    REDIS_URL: house.settings.REDIS_URL,
  });
}

/** The demo merchant's backend. */
export function merchantProcess(house: House, merchants: DemoMerchants): ChildOptions {
  const secrets = Object.values(merchants).map(({ merchantId, signingSecret }) => [merchantId, [signingSecret]]);
  return child(house, 'merchant', 'services/merchant/index.ts', {
    MERCHANT_PORT: house.ports.MERCHANT_PORT,
    SIGNING_SECRETS: JSON.stringify(Object.fromEntries(secrets)),
    MERCHANT_DATA: `${house.dataDir}/merchant.sqlite`,
  });
}

const LOOPBACK = '127.0.0.0/8,::1/128';

/** Whether there is a key for Stripe. */
export function isStripeOn({ settings }: House): boolean {
  return settings.STRIPE_API_KEY !== undefined;
}

function coreCommon(house: House, databaseUrl: string): Environment {
  const { ports, secrets, settings } = house;
  const sandbox = `sandbox=127.0.0.1:${ports.SANDBOX_PORT}`;
  const stripe = isStripeOn(house) ? `stripe=${addressesOf(ports).stripe.processorUrl}` : undefined;
  const named = [sandbox, stripe, settings.PROCESSORS].filter((processor) => processor !== undefined);
  return {
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: secrets.encryptionKeys,
    PROCESSORS: named.join(','),
    PROCESSOR_SANDBOX_CREDENTIAL: secrets.processorCredential,
    PROCESSOR_STRIPE_CREDENTIAL: isStripeOn(house) ? secrets.stripeCredential : undefined,
  };
}

type Environment = Record<string, string | number | undefined>;

/**
 * The environment of each process: the launcher's own, so that limits and LOG_LEVEL reach it, without the settings that
 * the launcher sets itself, and with an address of this machine to listen on.
 */
function child(house: House, name: string, entry: string, own: Environment): ChildOptions {
  const { environment: inherited, ...known } = house.settings;
  const unknown = Object.entries(inherited).filter(([setting]) => !Object.hasOwn(known, setting));
  const all = Object.entries<string | number | undefined>({
    ...Object.fromEntries(unknown),
    HOST: '127.0.0.1',
    ...own,
  });
  const set = all.flatMap(([setting, value]) => (value === undefined ? [] : [[setting, String(value)]]));
  return { name, entry, dataDir: house.dataDir, environment: Object.fromEntries(set) };
}
