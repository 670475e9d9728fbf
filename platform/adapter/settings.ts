import type { z } from 'zod';
import {
  databaseUrl,
  file,
  grpcTarget,
  host,
  PROCESS_SETTINGS,
  port,
  shownToCore,
  TRACING_SETTINGS,
  token,
  tokens,
} from '../settings.ts';

/** The settings of every adapter. */
export const ADAPTER_SETTINGS = {
  HOST: host.describe('address to listen on'),
  CORE_URL: grpcTarget.default('127.0.0.1:50051').describe('`host:port`, or `dns:///…` to balance over several'),
  PROCESSOR_TOKEN: token.describe('role processor'),
  PROCESSOR_CREDENTIAL: tokens.describe('token that core shows to the processor'),
  CORE_TLS_CA: file.describe("authorities of core's certificate, or `system`"),
  CORE_TLS_CERT: shownToCore,
  CORE_TLS_KEY: shownToCore,
  CORE_TLS_NAME: file.describe("name in core's certificate, when not the one in `CORE_URL`"),
};

const ofServer = file.describe("PEM certificate and key of the adapter's server");

const LEDGER_SETTINGS = {
  ...ADAPTER_SETTINGS,
  DATABASE_URL: databaseUrl,
};

/** Default ports of an adapter, and what it serves at that of its webhooks. */
interface Ports {
  readonly grpc: number;
  readonly webhook: number;
  readonly about: string;
}

/**
 * The settings of an adapter with a ledger in PostgreSQL. Those of its own servers begin with its name: `STRIPE_PORT`.
 */
export function ledgerSettings<Name extends string>(name: Name, { grpc, webhook, about }: Ports) {
  const own = {
    PORT: port.default(grpc).describe('gRPC'),
    WEBHOOK_PORT: port.default(webhook).describe(about),
    METRICS_PORT: port
      .optional()
      .describe(`\`/metrics\`, \`/healthz\`, \`/readyz\`; unset: none. Needs \`${name}_METRICS_TOKEN\``),
    METRICS_TOKEN: tokens.optional().describe('reads its metrics'),
    TLS_CERT: ofServer,
    TLS_KEY: ofServer,
    TLS_CLIENT_CA: file.describe('demands certificates of callers (mutual TLS)'),
  };
  const named = Object.fromEntries(Object.entries(own).map(([setting, schema]) => [`${name}_${setting}`, schema]));
  return {
    ...PROCESS_SETTINGS,
    ...TRACING_SETTINGS,
    ...LEDGER_SETTINGS,
    ...(named as { [Key in keyof typeof own as `${Name}_${Key}`]: (typeof own)[Key] }),
  };
}

/** What of them has no name of its own. */
export type LedgerSettings = z.output<z.ZodObject<typeof LEDGER_SETTINGS>>;

/** The ports of an adapter, and the token of its metrics, of the settings that `ledgerSettings()` describes. */
export function ownSettings(name: string, settings: object) {
  const given = settings as Readonly<Record<string, unknown>>;
  return {
    port: given[`${name}_PORT`] as number,
    webhookPort: given[`${name}_WEBHOOK_PORT`] as number,
    metricsPort: given[`${name}_METRICS_PORT`] as number | undefined,
    metricsToken: given[`${name}_METRICS_TOKEN`] as string | undefined,
  };
}
