/** The launcher's settings; the only place where it reads its environment. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { databaseUrl, readSettings as read, redisUrl, wholeNumber } from '../../platform/settings.ts';

const port = wholeNumber(1, 65_535);

export const QUICKSTART_SETTINGS = z.object({
  /** The gateway: REST and the relay. */
  PORT: port.default(8080),
  /** Core: gRPC. */
  CORE_PORT: port.default(50_051),
  /** Core: Connect, gRPC-Web, gRPC and JSON. */
  CONNECT_PORT: port.default(50_052),
  /** Folder of data, secrets and logs. */
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((directory) => resolve(directory)),
  /** Unset: an embedded PostgreSQL in DATA_DIR. */
  DATABASE_URL: databaseUrl.optional(),
  /** Unset: the gateway counts in memory. */
  REDIS_URL: redisUrl.optional(),
  /** Inner ports: any free one unless set. */
  DATABASE_PORT: port.optional(),
  CORE_METRICS_PORT: port.optional(),
  WORKER_METRICS_PORT: port.optional(),
  SANDBOX_PORT: port.optional(),
  CHECKOUT_PORT: port.optional(),
  MERCHANT_PORT: port.optional(),
  STRIPE_PORT: port.optional(),
  STRIPE_WEBHOOK_PORT: port.optional(),
  /** With both, the adapter to Stripe is started, which checks them. No other process gets them. */
  STRIPE_API_KEY: z.string().optional(),
  STRIPE_WEBHOOK_SECRET: z.string().optional(),
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
