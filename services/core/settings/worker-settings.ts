import { z } from 'zod';
import { checksRoles, parsedBy, port, tokens, wholeNumber } from '../../../platform/settings.ts';
import { parseNetworks } from '../egress/destination.ts';
import { checksProcessors, PROCESSOR } from '../processor/processor-settings.ts';
import { GATEWAY_ORIGIN, SERVER } from './environment.ts';

const networks = parsedBy(parseNetworks, 'must be networks in CIDR notation, joined by commas').prefault('');

export const WORKER_SETTINGS = z
  .object({
    ...SERVER,
    ...PROCESSOR,
    WORKER_METRICS_PORT: port
      .optional()
      .describe('`/metrics`, `/healthz`, `/readyz`; unset: none. Needs `METRICS_TOKEN` or `OPERATOR_TOKEN`'),
    METRICS_TOKEN: tokens.optional().describe('reads its metrics'),
    OPERATOR_TOKEN: tokens.optional().describe('reads its metrics'),
    WEBHOOK_ALLOWED_CIDRS: networks.describe(
      'networks of webhook URLs besides public ones, such as `127.0.0.0/8,::1/128`',
    ),
    WEBHOOK_PROXY_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .transform((text) => new URL(text))
      .optional()
      .describe(
        'forward proxy (CONNECT) to webhook URLs, `http://[user:password@]host:port`; it resolves their names, and must ' +
          'refuse private addresses',
      ),
    INTERNAL_ALLOWED_CIDRS: networks.describe('networks of internal URLs besides public ones'),
    GATEWAY_ORIGIN,
    RETENTION_DAYS: wholeNumber(1, 3_650)
      .default(90)
      .describe(
        'keeps deliveries, bodies that the relay accepted and generated tokens (`tokenData`) ' +
          '([Growth](scaling.md#growth))',
      ),
    OPERATION_RETENTION_DAYS: wholeNumber(30, 36_500)
      .default(400)
      .describe('keeps the log of results; holds, captures and OCTs stay for ever'),
  })
  .superRefine(checksProcessors('PROCESSOR_CREDENTIAL'))
  .superRefine(checksRoles(['OPERATOR_TOKEN', 'METRICS_TOKEN']));

export type WorkerSettings = z.output<typeof WORKER_SETTINGS>;
