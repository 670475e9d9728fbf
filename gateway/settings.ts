import { z } from 'zod';
import {
  file,
  grpcTarget,
  host,
  PROCESS_SETTINGS,
  port,
  redisUrl,
  TRACING_SETTINGS,
  token,
  wholeNumber,
} from '../platform/settings.ts';

const perSecond = wholeNumber(1, 1_000_000_000);

export const GATEWAY_SETTINGS = z.object({
  ...PROCESS_SETTINGS,
  ...TRACING_SETTINGS,
  HOST: host,
  PORT: port.default(8080),
  /** Where core answers gRPC: host:port, or any target that grpc-js resolves. */
  CORE_URL: grpcTarget.default('127.0.0.1:50051'),
  /** PEM file of the authorities that core's certificate must be of, or `system`. Unset: core is reached in clear. */
  CORE_TLS_CA: file,
  /** PEM files of what the gateway shows to a core that demands a certificate. */
  CORE_TLS_CERT: file,
  CORE_TLS_KEY: file,
  /** The name in core's certificate, when it is not the one in CORE_URL. */
  CORE_TLS_NAME: z.string().optional(),
  GATEWAY_TOKEN: token,
  /** Unset: limits are kept in this process. */
  REDIS_URL: redisUrl.optional(),
  /** How many proxies in front append to X-Forwarded-For; 0: the header is ignored. */
  TRUSTED_PROXY_HOPS: wholeNumber(0, 10).default(0),
  REST_RATE_PER_SECOND: perSecond.default(500),
  /** Merchants' requests under way at this gateway; one merchant alone may have half of them. */
  REST_IN_FLIGHT: wholeNumber(2, 1_000_000).default(512),
  /** Operators together have as many. */
  STREAMS_PER_API_KEY: wholeNumber(1, 100_000).default(100),
  RELAY_VERIFIED_PER_SECOND: perSecond.default(500),
  RELAY_ADDRESS_PER_SECOND: perSecond.default(2000),
  CORE_TIMEOUT_MS: wholeNumber(100, 25_000).default(15_000),
});

/** The settings of the gateway. */
export type Settings = z.output<typeof GATEWAY_SETTINGS>;
