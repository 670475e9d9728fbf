import { z } from 'zod';
import { ledgerSettings } from '../../platform/adapter/settings.ts';
import { httpUrl, isSafeAddress, parsedBy, wholeNumber } from '../../platform/settings.ts';

/**
 * Stripe takes Latin characters with a letter among them, and 22 at most together with the account's prefix and two
 * more.
 */
const SUFFIX = z
  .string()
  .regex(/^(?=.*[A-Za-z])[\x20-\x7e]{1,18}$/)
  .regex(/^[^<>\\'"*]*$/);

const FORM_OF_SUFFIXES =
  'must be a JSON object of texts of at most 18 Latin characters, with a letter and without < > \\ \' " *';

function parseSuffixes(text: string): Readonly<Record<string, string>> {
  return z.record(z.string(), SUFFIX).parse(JSON.parse(text));
}

export const STRIPE_SETTINGS = z.object({
  ...ledgerSettings('STRIPE', {
    grpc: 50_062,
    webhook: 8_092,
    about: '`POST /webhook/stripe`, and the page after a checkout without a `returnUrl`',
  }),
  STRIPE_PUBLIC_URL: httpUrl.optional().describe('where customers reach that page; unset: loopback'),
  STRIPE_API_KEY: z
    .string()
    .regex(/^(sk|rk)_(test|live)_\w+$/, 'must be a secret or restricted key, such as sk_test_… or rk_live_…')
    .describe('secret or restricted key ([Stripe](stripe.md))'),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_[^\s,]+(,whsec_[^\s,]+)*$/, 'must be signing secrets such as whsec_…, joined by commas')
    .describe("`whsec_…[,…]`: of the account's endpoint, and of that for connected accounts"),
  STRIPE_STATEMENT_SUFFIXES: parsedBy(parseSuffixes, FORM_OF_SUFFIXES)
    .optional()
    .describe('`{"merchantId": "TEXT"}`: follows your account\'s name on the statements of a merchant\'s customers'),
  STRIPE_API_BASE: z
    .string()
    .refine(isOrigin, 'must be an https origin, or an http one on the loopback address, without a path')
    .default('https://api.stripe.com')
    .describe("origin of Stripe's API; `http` on loopback only"),
  STRIPE_TIMEOUT_MS: wholeNumber(100, 60_000).default(8_000).describe('of one request to Stripe'),
});

/** The settings of the adapter to Stripe. */
export type Settings = z.output<typeof STRIPE_SETTINGS>;

/** Without a path. The API key travels with every request. */
function isOrigin(text: string): boolean {
  return isSafeAddress(text) && text.replace(/\/$/, '') === new URL(text).origin;
}
