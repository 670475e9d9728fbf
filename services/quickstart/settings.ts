/** The launcher's settings; the only place where it reads its environment. */
import { resolve } from 'node:path';
import { z } from 'zod';

const port = z.coerce.number().int().min(1).max(65_535);

export const SCHEMA = z.object({
  /** The gateway: REST and the relay. */
  PORT: port.default(8080),
  /** Core's gRPC door. */
  CORE_PORT: port.default(50_051),
  /** Core's Connect door. */
  CONNECT_PORT: port.default(50_052),
  /** Folder for everything that is kept: data, secrets, logs. */
  DATA_DIR: z
    .string()
    .default('.data')
    .transform((directory) => resolve(directory)),
  /** Unset: an embedded PostgreSQL in DATA_DIR. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' }).optional(),
  /** Unset: the gateway counts in memory. */
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis:// URL' }).optional(),
  /** Inner ports: any free one unless set. */
  DATABASE_PORT: port.optional(),
  SANDBOX_PORT: port.optional(),
  CHECKOUT_PORT: port.optional(),
  MERCHANT_PORT: port.optional(),
});

/** What the launcher is told, and the environment that the processes inherit. */
export interface QuickstartSettings extends z.output<typeof SCHEMA> {
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Reads and checks the settings; an empty one is unset. Throws an error of one line that names each bad setting and never shows
 * its value.
 */
export function readSettings(given: NodeJS.ProcessEnv): QuickstartSettings {
  const environment = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const result = SCHEMA.safeParse(environment);
  if (result.success) return { ...result.data, environment };
  throw new Error(result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
}
