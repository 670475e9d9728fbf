/** The environment of core's processes: the settings that several of them have, and how what is wrong with one is told. */
import { z } from 'zod';
import { parseOrigins } from './delivery/gateway-address.ts';
import { parseEncryptionKeys } from './storage/cipher.ts';

/**
 * Reads settings; an empty one is unset. Throws an Error of one line that names every setting that is wrong or missing, and never
 * shows a value.
 */
export function readEnvironment<S extends z.ZodType>(schema: S, environment: NodeJS.ProcessEnv): z.output<S> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return given[name] === undefined ? `${name} is not set` : `${name}: ${message}`;
  });
  throw new Error(`settings: ${problems.join('; ')}`);
}

/** A setting that a function of ours reads. `form` says what it should look like: what the function throws may quote it. */
export function readBy<T>(parse: (text: string) => T, form: string) {
  return z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: form });
      return z.NEVER;
    }
  });
}

export const port = z.coerce.number().int().min(0).max(65_535);
export const file = z.string().optional();
/** Several, joined by commas, while one is being replaced by another. */
export const tokens = z.string().regex(/^[^,]{32,}(,[^,]{32,})*$/, 'at least 32 characters each');
/** Where the gateway is reached. */
export const origins = readBy(parseOrigins, 'http or https origins, joined by commas').default([]);
export const databaseUrl = z.string().regex(/^postgres(ql)?:\/\//, 'a postgres:// address');

/** What each process that runs has. */
export const PROCESS = {
  DATABASE_URL: databaseUrl,
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(200).default(10),
  ENCRYPTION_KEYS: readBy(parseEncryptionKeys, 'id:base64-of-32-bytes with distinct ids, joined by commas'),
  HOST: z.string().default('127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'an http or https address' }).optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
};

/** What everybody has who calls the processor. */
export const PROCESSOR = {
  PROCESSOR_URL: z.string().regex(/^[^/]+:\d+$/, 'host:port'),
  PROCESSOR_CREDENTIAL: z.string().min(32, 'at least 32 characters'),
  PROCESSOR_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(5_000),
  PROCESSOR_TLS_CA: file,
  PROCESSOR_TLS_CERT: file,
  PROCESSOR_TLS_KEY: file,
  PROCESSOR_TLS_NAME: z.string().optional(),
};
