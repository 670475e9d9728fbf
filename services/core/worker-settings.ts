import { z } from 'zod';
import { parseNetworks } from './delivery/destination.ts';
import { parseEncryptionKeys } from './storage/cipher.ts';

const networks = z
  .string()
  .default('')
  .transform((text, context) => {
    try {
      return parseNetworks(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'networks in CIDR notation, joined by commas' });
      return z.NEVER;
    }
  });
const origin = z
  .string()
  .transform((text) => URL.parse(text)?.origin ?? '')
  .pipe(z.string().regex(/^https?:\/\//, 'an http or https origin'));
const file = z.string().min(1).optional();

export const SCHEMA = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'a postgres:// address'),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(200).default(10),
  ENCRYPTION_KEYS: z.string().transform((text, context) => {
    try {
      return parseEncryptionKeys(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be id:base64-of-32-bytes, joined by commas' });
      return z.NEVER;
    }
  }),
  PROCESSOR_URL: z.string().regex(/^[^/]+:\d+$/, 'host:port'),
  PROCESSOR_CREDENTIAL: z.string().min(32, 'at least 32 characters'),
  PROCESSOR_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(5_000),
  WEBHOOK_ALLOWED_CIDRS: networks,
  INTERNAL_ALLOWED_CIDRS: networks,
  GATEWAY_ORIGIN: origin.optional(),
  RETENTION_DAYS: z.coerce.number().int().min(1).max(3_650).default(90),
  PROCESSOR_TLS_CA: file,
  PROCESSOR_TLS_CERT: file,
  PROCESSOR_TLS_KEY: file,
  PROCESSOR_TLS_NAME: file,
  HOST: z.string().min(1).default('127.0.0.1'),
  WORKER_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  OPERATOR_TOKEN: z
    .string()
    .regex(/^[^,]{32,}(,[^,]{32,})*$/, 'at least 32 characters each')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'an http or https address' }).optional(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
});

/** What the worker needs to know; every setting is described in the README. */
export type WorkerSettings = z.output<typeof SCHEMA>;

/** Reads the settings from an environment. Throws an error that names every wrong setting and never shows a value. */
export function readWorkerSettings(environment: NodeJS.ProcessEnv): WorkerSettings {
  const parsed = SCHEMA.safeParse(environment);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return environment[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
  });
  throw new Error(`settings: ${problems.join('; ')}`);
}
