import { z } from 'zod';

const SCHEMA = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'a postgres:// address'),
  PROCESSOR_URL: z.string().regex(/^[^/]+:\d+$/, 'host:port'),
  PROCESSOR_CREDENTIAL: z.string().min(32, 'at least 32 characters'),
  PROCESSOR_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(30_000),
  PROCESSOR_TLS_CA: z.string().optional(),
  PROCESSOR_TLS_CERT: z.string().optional(),
  PROCESSOR_TLS_KEY: z.string().optional(),
  PROCESSOR_TLS_NAME: z.string().optional(),
});

/** What the audit needs to know; the settings are core's. */
export type AuditSettings = z.output<typeof SCHEMA>;

/** Reads the settings from an environment. Throws an error that names every wrong setting and never shows a value. */
export function readAuditSettings(environment: NodeJS.ProcessEnv): AuditSettings {
  const parsed = SCHEMA.safeParse(environment);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return environment[name] === undefined ? `${name} is not set` : `${name}: ${issue.message}`;
  });
  throw new Error(`settings: ${problems.join('; ')}`);
}
