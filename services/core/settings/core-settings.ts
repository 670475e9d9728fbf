import { z } from 'zod';
import { byName, checksRoles, file, port, tokens, wholeNumber } from '../../../platform/settings.ts';
import { checksProcessors, PROCESSOR } from '../processor/processor-settings.ts';
import { GATEWAY_ORIGIN, SERVER } from './environment.ts';

const ofServers = file.describe("PEM certificate and key of core's servers; unset: cleartext");

export const CORE_SETTINGS = z
  .object({
    ...SERVER,
    ...PROCESSOR,
    CORE_PORT: port.default(50_051).describe('gRPC'),
    CONNECT_PORT: port.default(50_052).describe('Connect, gRPC-Web, gRPC, JSON'),
    CORE_METRICS_PORT: port
      .optional()
      .describe('`/metrics`, `/healthz`, `/readyz`; unset: none. The gateway has its own on `PORT`'),
    MAX_CALLS_IN_FLIGHT: wholeNumber(8, 100_000)
      .default(1_024)
      .describe(
        'calls in one core ([shares](limits.md#figures)). A quarter of it, times the cores, must be less than ' +
          '`REST_IN_FLIGHT` times the gateways',
      ),
    GATEWAY_ORIGIN,
    GATEWAY_TOKEN: tokens.describe(
      'role gateway; every token has 32 ASCII characters or more, no blanks, and one role',
    ),
    SERVICE_TOKEN: tokens.describe('role internal'),
    OPERATOR_TOKEN: tokens.describe('role operator'),
    METRICS_TOKEN: tokens.optional().describe('reads `/metrics` alone; operators may, too'),
    PROCESSOR_TOKEN: tokens.optional().describe('role processor, of the only one'),
    'PROCESSOR_<NAME>_TOKEN': byName(tokens).describe('role processor, of one of PROCESSORS'),
    CORE_TLS_CERT: ofServers,
    CORE_TLS_KEY: ofServers,
    CORE_TLS_CLIENT_CA: file.describe('demands certificates of callers (mutual TLS)'),
  })
  .superRefine(checksProcessors('PROCESSOR_CREDENTIAL', 'PROCESSOR_TOKEN'))
  .superRefine(checksRoles(['GATEWAY_TOKEN', 'SERVICE_TOKEN', 'OPERATOR_TOKEN', 'METRICS_TOKEN', 'PROCESSOR_TOKEN']));

export type CoreSettings = z.output<typeof CORE_SETTINGS>;
