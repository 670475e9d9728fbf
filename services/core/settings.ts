import { z } from 'zod';
import { byName, file, port, tokens, wholeNumber } from '../../platform/settings.ts';
import { checksProcessors, origins, PROCESSOR, SERVER } from './environment.ts';

export const CORE_SETTINGS = z
  .object({
    ...SERVER,
    ...PROCESSOR,
    CORE_PORT: port.default(50_051),
    CONNECT_PORT: port.default(50_052),
    CORE_METRICS_PORT: port.optional(),
    MAX_CALLS_IN_FLIGHT: wholeNumber(8, 100_000).default(1_024),
    GATEWAY_ORIGIN: origins,
    GATEWAY_TOKEN: tokens,
    SERVICE_TOKEN: tokens,
    OPERATOR_TOKEN: tokens,
    PROCESSOR_TOKEN: tokens.optional(),
    'PROCESSOR_<NAME>_TOKEN': byName(tokens),
    CORE_TLS_CERT: file,
    CORE_TLS_KEY: file,
    CORE_TLS_CLIENT_CA: file,
  })
  .superRefine(checksProcessors('PROCESSOR_CREDENTIAL', 'PROCESSOR_TOKEN'));

/** The settings of core's RPC process. */
export type CoreSettings = z.output<typeof CORE_SETTINGS>;
