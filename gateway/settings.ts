import { z } from 'zod';
import { CALL_DEADLINE_MS } from '../platform/call-deadline.ts';
import {
  checksRoles,
  file,
  grpcTarget,
  host,
  PROCESS_SETTINGS,
  port,
  redisUrl,
  shownToCore,
  TRACING_SETTINGS,
  token,
  tokens,
  trustedProxyHops,
  wholeNumber,
} from '../platform/settings.ts';

const perSecond = wholeNumber(1, 1_000_000_000);

export const GATEWAY_SETTINGS = z
  .object({
    ...PROCESS_SETTINGS,
    ...TRACING_SETTINGS,
    HOST: host.describe('address to listen on'),
    PORT: port.default(8080).describe('REST and the relay'),
    GATEWAY_PROCESSES: wholeNumber(1, 64)
      .default(1)
      .describe('processes on that port, to use as many cores; for limits each is a gateway, metrics are of all'),
    CORE_URL: grpcTarget.default('127.0.0.1:50051').describe('`host:port`, or `dns:///…` to balance over several'),
    CORE_TLS_CA: file.describe("authorities of core's certificate, or `system`"),
    CORE_TLS_CERT: shownToCore,
    CORE_TLS_KEY: shownToCore,
    CORE_TLS_NAME: z.string().optional().describe("name in core's certificate, when not the one in `CORE_URL`"),
    GATEWAY_TOKEN: token.describe('role gateway; every token has 32 ASCII characters or more, no blanks, and one role'),
    METRICS_TOKEN: tokens.optional().describe('reads `/metrics` alone; not that of a role'),
    REDIS_URL: redisUrl
      .optional()
      .describe('`redis://…`, limits shared by gateways; unset: each of their processes counts by itself'),
    TRUSTED_PROXY_HOPS: trustedProxyHops,
    REST_RATE_PER_SECOND: perSecond.default(500).describe('per API key'),
    REST_IN_FLIGHT: wholeNumber(2, 1_000_000)
      .default(512)
      .describe("merchants' requests in progress at one gateway ([shares](limits.md#figures))"),
    STREAMS_PER_API_KEY: wholeNumber(1, 100_000)
      .default(100)
      .describe('open event streams of a key, or of all operators, at one gateway'),
    RELAY_VERIFIED_PER_SECOND: perSecond.default(500).describe('verified notifications, per merchant'),
    RELAY_ADDRESS_PER_SECOND: perSecond
      .default(2000)
      .describe('requests per address, and KiB of its bodies above 4 KiB'),
    CORE_TIMEOUT_MS: wholeNumber(100, 25_000)
      .default(CALL_DEADLINE_MS)
      .describe('deadline of a call, at most 25000: a 404 is final 30 s after a 202'),
  })
  .superRefine(checksRoles(['GATEWAY_TOKEN', 'METRICS_TOKEN']));

export type Settings = z.output<typeof GATEWAY_SETTINGS>;
