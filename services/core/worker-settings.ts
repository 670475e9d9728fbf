import { z } from 'zod';
import { parseNetworks } from './delivery/destination.ts';
import { origins, PROCESS, PROCESSOR, port, readBy, readEnvironment, tokens } from './environment.ts';

const networks = readBy(parseNetworks, 'networks in CIDR notation, joined by commas').prefault('');

export const SCHEMA = z.object({
  ...PROCESS,
  ...PROCESSOR,
  WORKER_METRICS_PORT: port.optional(),
  OPERATOR_TOKEN: tokens.optional(),
  WEBHOOK_ALLOWED_CIDRS: networks,
  INTERNAL_ALLOWED_CIDRS: networks,
  GATEWAY_ORIGIN: origins,
  RETENTION_DAYS: z.coerce.number().int().min(1).max(3_650).default(90),
});

/** What the worker needs to know; every setting is described in the README. */
export type WorkerSettings = z.output<typeof SCHEMA>;

/** Reads the settings from an environment. Throws an error that names every wrong setting and never shows a value. */
export function readWorkerSettings(environment: NodeJS.ProcessEnv): WorkerSettings {
  return readEnvironment(SCHEMA, environment);
}
