import { z } from 'zod';
import { ledgerSettings } from '../../platform/adapter/settings.ts';
import { isSafeAddress, port, trustedProxyHops, wholeNumber } from '../../platform/settings.ts';

const GUARANTEES = /^([a-z_]{2,32}=([1-9]|[12]\d|30)(,(?=.)|$))*$/;

/** "visa=7,mc=30" → { visa: 7, mc: 30 }. */
function daysByName(text: string): Record<string, number> {
  const pairs = text.split(',').filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => pair.split('=')).map(([name, days]) => [name, Number(days)]));
}

const isOrigin = (text: string) => isSafeAddress(text) && URL.parse(text)?.origin === text;

export const ADYEN_SETTINGS = z.object({
  ...ledgerSettings('ADYEN', {
    grpc: 50_063,
    webhook: 8_093,
    about: '`POST /webhook/adyen`, `GET /healthz` and `/readyz`',
  }),
  ADYEN_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{10,}$/, 'must be an API key')
    .describe('key of the API credential ([Adyen](adyen.md))'),
  ADYEN_MERCHANT_ACCOUNT: z
    .string()
    .regex(/^\w{1,80}$/, 'must be the code of a merchant account')
    .describe('merchant account of merchants whose contract names none'),
  ADYEN_HMAC_KEY: z
    .string()
    .regex(
      /^[0-9A-Fa-f]{64}(,[0-9A-Fa-f]{64})*$/,
      'must be 64 hexadecimal digits, or several such keys joined by commas',
    )
    .describe('of the webhook; several, joined by commas, while one is being replaced'),
  ADYEN_API_BASE: z
    .string()
    .refine(isSafeAddress, 'must be an https address, or an http one on the loopback address')
    .default('https://checkout-test.adyen.com/v71')
    .describe('Checkout API with its version; `http` on loopback only'),
  ADYEN_RETURN_URL: z
    .url({ protocol: /^https?$/, hostname: /^\S+$/ })
    .max(1024)
    .default('https://return.example.com/')
    .describe('`returnUrl` of each payment; live, a page of yours'),
  ADYEN_PAGE_ORIGIN: z
    .string()
    .max(80)
    .refine(
      isOrigin,
      'must be an https origin, or an http one on the loopback address, such as https://pay.example.com',
    )
    .optional()
    .describe('where customers reach the pages of step-ups; unset: none'),
  ADYEN_PAGE_PORT: port.default(8_094).describe('these pages'),
  TRUSTED_PROXY_HOPS: trustedProxyHops,
  ADYEN_TIMEOUT_MS: wholeNumber(100, 60_000).default(4_000).describe('of one request to Adyen'),
  ADYEN_HOLD_DAYS: wholeNumber(1, 30).default(28).describe('after how many days Adyen lets an authorisation expire'),
  ADYEN_RESULT_DAYS: wholeNumber(1, 30)
    .default(3)
    .describe('how long a result may take; then its operation is unknown'),
  ADYEN_ADJUSTMENTS: z
    .enum(['on', 'off'])
    .default('off')
    .describe('`on`: authorises as PreAuth, which can be incremented, released in part and extended'),
  ADYEN_GUARANTEE_DAYS: z
    .string()
    .regex(GUARANTEES, 'must be names of cards with 1 to 30 days each, such as visa=7,mc=30')
    .default('')
    .transform(daysByName)
    .describe("days for which card schemes guarantee a hold, instead of the adapter's own, such as `visa=7,jcb=7`"),
});

/** The settings of the adapter to Adyen. */
export type Settings = z.output<typeof ADYEN_SETTINGS>;
