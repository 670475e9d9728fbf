import { z } from 'zod';
import { parseEncryptionKeys } from './storage/cipher.ts';

const token = z.string().min(32, 'at least 32 characters');
/** Several, joined by commas, while one is being replaced by another. */
const tokens = z.string().regex(/^[^,]{32,}(,[^,]{32,})*$/, 'at least 32 characters each');
const file = z.string().min(1).optional();
const port = z.coerce.number().int().min(0).max(65_535);

export const SCHEMA = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'a postgres:// address'),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(200).default(10),
  HOST: z.string().min(1).default('127.0.0.1'),
  CORE_PORT: port.default(50_051),
  CONNECT_PORT: port.default(50_052),
  PROCESSOR_URL: z.string().regex(/^[^/]+:\d+$/, 'host:port'),
  PROCESSOR_CREDENTIAL: token,
  PROCESSOR_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(5_000),
  ENCRYPTION_KEYS: z.string().transform(parseEncryptionKeys),
  GATEWAY_TOKEN: tokens,
  SERVICE_TOKEN: tokens,
  OPERATOR_TOKEN: tokens,
  PROCESSOR_TOKEN: tokens,
  CORE_TLS_CERT: file,
  CORE_TLS_KEY: file,
  CORE_TLS_CLIENT_CA: file,
  PROCESSOR_TLS_CA: file,
  PROCESSOR_TLS_CERT: file,
  PROCESSOR_TLS_KEY: file,
  PROCESSOR_TLS_NAME: file,
  CORE_METRICS_PORT: port.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'an http or https address' }).optional(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
});

/** What the core's RPC process needs to know; every setting is described in the README. */
export type CoreSettings = z.output<typeof SCHEMA>;

/** Reads the settings from an environment. Throws an error that names every wrong setting and never shows a value. */
export function readSettings(environment: NodeJS.ProcessEnv): CoreSettings {
  const parsed = SCHEMA.safeParse(environment);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return environment[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
  });
  throw new Error(`settings: ${problems.join('; ')}`);
}
