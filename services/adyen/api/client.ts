import { z } from 'zod';
import { turnedAway } from '../../../platform/adapter/ending.ts';
import { plainText } from '../../../platform/adapter/plain-text.ts';
import { isReturnUrl } from '../../../platform/return-url.ts';
import type { Settings } from '../settings.ts';

const text = z.string().default('').catch('');

/** Where a customer is sent; undefined for other actions, which need a library of Adyen's in the page. */
const ACTION = z
  .object({
    type: z.literal('redirect'),
    url: z.string().max(16_384).refine(isReturnUrl),
    method: z.enum(['GET', 'POST']).default('GET'),
    data: z.record(z.string(), z.string()).default({}),
  })
  .optional()
  .catch(undefined);

/** What Adyen answered, as far as it is used. */
const ANSWER = z.object({
  pspReference: z.string().max(64).transform(plainText).default(''),
  merchantReference: text,
  resultCode: z.string().default(''),
  refusalReason: z.string().default(''),
  refusalReasonCode: z.string().default(''),
  status: z.string().default(''),
  amount: z.object({ value: z.int(), currency: z.string() }).optional(),
  paymentMethod: z.object({ brand: z.string().default('') }).default({ brand: '' }),
  additionalData: z.record(z.string(), z.unknown()).default({}),
  action: ACTION,
});
export type Answer = z.output<typeof ANSWER>;

const REFUSAL = z.object({ errorCode: z.coerce.string().default(''), message: z.string().default('') });

/** What a request came to. */
export type Answered =
  | { readonly is: 'answered'; readonly answer: Answer }
  /** Adyen rejected it, and did nothing under its key. */
  | { readonly is: 'rejected'; readonly code: string; readonly message: string }
  /** Too many requests, or the API key may not (`turnedAway()`). */
  | { readonly is: 'turned away'; readonly code: string; readonly message: string; readonly isPassing: boolean }
  /** Another request is in progress under this key. */
  | { readonly is: 'in progress' }
  /** No answer, or an error of Adyen's own: it may have been done. */
  | { readonly is: 'unknown' };

/** Adyen's Checkout API. */
export type AdyenClient = ReturnType<typeof openClient>;

/** Adyen remembers a key for at least 7 days; a day of it is left for clocks and queues. */
export const KEY_REMEMBERED_MS = 6 * 24 * 60 * 60 * 1000;

const IN_PROGRESS = '704';
const LONGEST_ANSWER = 256 * 1024;

/** Opens the client. fetch repeats no POST by itself. Calls `onAnswer` with the HTTP status of each answer. */
export function openClient(
  settings: Pick<Settings, 'ADYEN_API_BASE' | 'ADYEN_API_KEY' | 'ADYEN_TIMEOUT_MS'>,
  onAnswer: (status: number) => void,
) {
  const base = settings.ADYEN_API_BASE.replace(/\/+$/, '');
  return {
    /**
     * Sends a request once, under an idempotency key (docs.adyen.com/development-resources/api-idempotency). `doubt`:
     * an earlier request under this key may have arrived; then a rejection counts only when Adyen's answer names the
     * key, which says that it was looked up. Never rejects.
     */
    async post(path: string, body: object, idempotencyKey: string, doubt: boolean): Promise<Answered> {
      try {
        const response = await fetch(`${base}${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-api-key': settings.ADYEN_API_KEY,
            'idempotency-key': idempotencyKey,
          },
          body: JSON.stringify(body),
          redirect: 'error',
          signal: AbortSignal.timeout(settings.ADYEN_TIMEOUT_MS),
        });
        onAnswer(response.status);
        const text = await response.text();
        return text.length > LONGEST_ANSWER ? UNKNOWN : classified(response, text, doubt);
      } catch {
        return UNKNOWN;
      }
    },
  };
}

const UNKNOWN: Answered = { is: 'unknown' };

function classified({ status, ok, headers }: Response, text: string, doubt: boolean): Answered {
  const body: unknown = JSON.parse(text || '{}');
  if (ok) return { is: 'answered', answer: ANSWER.parse(body) };
  const refused = turnedAway('Adyen', status);
  if (refused) return { is: 'turned away', ...refused };
  // A 408 is also what a gateway answers when nobody answered it.
  if (status >= 500 || status === 408 || headers.get('transient-error') === 'true') return UNKNOWN;
  const refusal = REFUSAL.parse(body);
  if (refusal.errorCode === IN_PROGRESS) return { is: 'in progress' };
  if (doubt && !headers.has('idempotency-key')) return UNKNOWN;
  return { is: 'rejected', code: `adyen_${refusal.errorCode || status}`, message: refusal.message };
}
