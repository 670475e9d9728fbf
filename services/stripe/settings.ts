import { z } from 'zod';
import { ADAPTER_SETTINGS } from '../../platform/adapter/settings.ts';
import {
  databaseUrl,
  file,
  httpUrl,
  PROCESS_SETTINGS,
  port,
  TRACING_SETTINGS,
  wholeNumber,
} from '../../platform/settings.ts';

export const STRIPE_SETTINGS = z.object({
  ...PROCESS_SETTINGS,
  ...TRACING_SETTINGS,
  ...ADAPTER_SETTINGS,
  /** The processor contract, gRPC. */
  STRIPE_PORT: port.default(50_062),
  /** Stripe's webhooks, HTTP. */
  STRIPE_WEBHOOK_PORT: port.default(8_092),
  /** Where customers reach the webhook server, for the page after a checkout that names none. Unset: on this machine. */
  STRIPE_PUBLIC_URL: httpUrl.optional(),
  DATABASE_URL: databaseUrl,
  /** Secret or restricted key of the account, or of the platform. */
  STRIPE_API_KEY: z
    .string()
    .regex(/^(sk|rk)_(test|live)_\w+$/, 'must be a secret or restricted key, such as sk_test_… or rk_live_…'),
  /** Signing secrets of the webhook endpoints: a platform has two, its own and that of its connected accounts. */
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_[^\s,]+(,whsec_[^\s,]+)*$/, 'must be signing secrets such as whsec_…, joined by commas'),
  /** Origin of Stripe's API. */
  STRIPE_API_BASE: z
    .string()
    .refine(isOrigin, 'must be an https origin, or an http one on the loopback address, without a path')
    .default('https://api.stripe.com'),
  /** How long one request to Stripe may take. */
  STRIPE_TIMEOUT_MS: wholeNumber(100, 60_000).default(8_000),
  /** PEM files of the gRPC server. Unset: it serves in clear. */
  STRIPE_TLS_CERT: file,
  STRIPE_TLS_KEY: file,
  STRIPE_TLS_CLIENT_CA: file,
});

/** The settings of the adapter to Stripe. */
export type Settings = z.output<typeof STRIPE_SETTINGS>;

/** The API key travels with every request, so http is for this very machine only. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || text.replace(/\/$/, '') !== url.origin) return false;
  const isLoopback = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback);
}
