import { z } from 'zod';
import { file, origins, PROCESS, PROCESSOR, port, readEnvironment, tokens } from './environment.ts';

export const SCHEMA = z.object({
  ...PROCESS,
  ...PROCESSOR,
  CORE_PORT: port.default(50_051),
  CONNECT_PORT: port.default(50_052),
  CORE_METRICS_PORT: port.optional(),
  MAX_CALLS_IN_FLIGHT: z.coerce.number().int().min(8).max(100_000).default(1_024),
  GATEWAY_ORIGIN: origins,
  GATEWAY_TOKEN: tokens,
  SERVICE_TOKEN: tokens,
  OPERATOR_TOKEN: tokens,
  PROCESSOR_TOKEN: tokens,
  CORE_TLS_CERT: file,
  CORE_TLS_KEY: file,
  CORE_TLS_CLIENT_CA: file,
});

/** What the core's RPC process needs to know; every setting is described in the README. */
export type CoreSettings = z.output<typeof SCHEMA>;

/** Reads the settings from an environment. Throws an error that names every wrong setting and never shows a value. */
export function readSettings(environment: NodeJS.ProcessEnv): CoreSettings {
  return readEnvironment(SCHEMA, environment);
}
