/** The launcher's settings; the only place where it reads its environment. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { databaseUrl, readSettings as read, redisUrl, wholeNumber } from '../../platform/settings.ts';

const port = wholeNumber(1, 65_535);

export const QUICKSTART_SETTINGS = z.object({
  PORT: port.default(8080).describe('REST and the relay'),
  CORE_PORT: port.default(50_051).describe('gRPC'),
  CONNECT_PORT: port.default(50_052).describe('Connect, gRPC-Web, gRPC, JSON'),
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((directory) => resolve(directory))
    .describe('everything that is kept'),
  DATABASE_URL: databaseUrl.optional().describe('`postgresql://…`; unset: embedded'),
  REDIS_URL: redisUrl
    .optional()
    .describe('`redis://…`, limits shared by gateways; unset: each of their processes counts by itself'),
  DATABASE_PORT: port.optional().describe('of the embedded PostgreSQL; unset: any free one'),
  CORE_METRICS_PORT: port.optional().describe('unset: any free one'),
  WORKER_METRICS_PORT: port.optional().describe('unset: any free one'),
  SANDBOX_PORT: port.optional().describe('unset: any free one'),
  CHECKOUT_PORT: port.optional().describe('unset: any free one'),
  MERCHANT_PORT: port.optional().describe('unset: any free one'),
  PROCESSORS: z
    .string()
    .optional()
    .describe(
      '`name=host:port[,…]`: your own adapters, beside the sandbox and Stripe, with `PROCESSOR_<NAME>_CREDENTIAL` ' +
        'and `_TOKEN`',
    ),
  STRIPE_PORT: port.optional().describe('unset: any free one'),
  STRIPE_WEBHOOK_PORT: port.optional().describe('unset: any free one'),
  STRIPE_DATABASE_PORT: port.optional().describe('unset: any free one'),
  STRIPE_API_KEY: z.string().optional().describe('unset: the adapter to Stripe is not started'),
  STRIPE_WEBHOOK_SECRET: z.string().optional().describe('required with `STRIPE_API_KEY`'),
});

/** The settings of the launcher, and the environment that its processes inherit. */
export interface QuickstartSettings extends z.output<typeof QUICKSTART_SETTINGS> {
  readonly environment: NodeJS.ProcessEnv;
}

/** Reads the launcher's settings; errors as platform/settings.ts. */
export function readSettings(given: NodeJS.ProcessEnv): QuickstartSettings {
  const environment = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  return { ...read(QUICKSTART_SETTINGS, environment), environment };
}
