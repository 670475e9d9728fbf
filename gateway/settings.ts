import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const perSecond = z.coerce.number().int().min(1).max(1_000_000_000);

export const SCHEMA = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port.default(8080),
  /** Where core answers gRPC: host:port, or any target that grpc-js resolves. */
  CORE_URL: z.string().min(1).default('127.0.0.1:50051'),
  /** PEM file of the authorities that core's certificate must be of, or `system`. Unset: core is reached in clear. */
  CORE_TLS_CA: z.string().optional(),
  /** PEM files of what the gateway shows to a core that demands a certificate. */
  CORE_TLS_CERT: z.string().optional(),
  CORE_TLS_KEY: z.string().optional(),
  /** The name in core's certificate, when it is not the one in CORE_URL. */
  CORE_TLS_NAME: z.string().optional(),
  GATEWAY_TOKEN: z.string().min(32),
  /** Unset: limits are kept in this process. */
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  /** How many proxies in front append to X-Forwarded-For; 0: the header is ignored. */
  TRUSTED_PROXY_HOPS: z.coerce.number().int().min(0).max(10).default(0),
  REST_RATE_PER_SECOND: perSecond.default(500),
  /** Operators together have as many. */
  STREAMS_PER_API_KEY: z.coerce.number().int().min(1).max(100_000).default(100),
  RELAY_VERIFIED_PER_SECOND: perSecond.default(500),
  RELAY_ADDRESS_PER_SECOND: perSecond.default(2000),
  CORE_TIMEOUT_MS: z.coerce.number().int().min(100).max(25_000).default(15_000),
  /** Where traces go: the base of OTLP over HTTP, such as http://127.0.0.1:4318. Unset: nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

/** What the gateway is told at start. */
export type Settings = z.output<typeof SCHEMA>;

/** Reads the settings; an empty one is unset. Throws an Error of one line that names each wrong setting and never quotes a value. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const result = SCHEMA.safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`setting ${faults.join('; setting ')}`);
}
