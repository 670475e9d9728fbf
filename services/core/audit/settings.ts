import { z } from 'zod';
import { databaseUrl, PROCESSOR, readEnvironment } from '../environment.ts';

const SCHEMA = z.object({
  DATABASE_URL: databaseUrl,
  ...PROCESSOR,
  /** A page of a thousand entries takes longer than a payment may. */
  PROCESSOR_TIMEOUT_MS: PROCESSOR.PROCESSOR_TIMEOUT_MS.removeDefault().default(30_000),
});

/** What the audit needs to know; the settings are core's. */
export type AuditSettings = z.output<typeof SCHEMA>;

/** Reads the settings from an environment. Throws an error that names every wrong setting and never shows a value. */
export function readAuditSettings(environment: NodeJS.ProcessEnv): AuditSettings {
  return readEnvironment(SCHEMA, environment);
}
