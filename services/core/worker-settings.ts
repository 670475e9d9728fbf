import { z } from 'zod';
import { parsedBy, port, tokens, wholeNumber } from '../../platform/settings.ts';
import { parseNetworks } from './delivery/destination.ts';
import { checksProcessors, origins, PROCESSOR, SERVER } from './environment.ts';

const networks = parsedBy(parseNetworks, 'must be networks in CIDR notation, joined by commas').prefault('');

export const WORKER_SETTINGS = z
  .object({
    ...SERVER,
    ...PROCESSOR,
    WORKER_METRICS_PORT: port.optional(),
    OPERATOR_TOKEN: tokens.optional(),
    WEBHOOK_ALLOWED_CIDRS: networks,
    INTERNAL_ALLOWED_CIDRS: networks,
    GATEWAY_ORIGIN: origins,
    RETENTION_DAYS: wholeNumber(1, 3_650).default(90),
  })
  .superRefine(checksProcessors('PROCESSOR_CREDENTIAL'));

/** The settings of the worker. */
export type WorkerSettings = z.output<typeof WORKER_SETTINGS>;
