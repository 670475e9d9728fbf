import type { Context, Middleware } from 'koa';
import type { Log } from '../../../platform/log.ts';
import type { Clock } from '../clock.ts';
import type { Checkout } from '../ledger/checkout.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Reporter } from '../report.ts';
import type { Capabilities } from './capability.ts';
import { formPage } from './form-page.ts';
import { formatAmount } from './format.ts';
import { challengePage, messagePage } from './message-page.ts';
import { type OpenedCheckout, readCheckout, standingOf } from './submit.ts';
import { type Message, WORDS } from './words.ts';

/** What the page needs. */
export interface CheckoutSetup {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly capabilities: Capabilities;
  readonly reporter: Pick<Reporter, 'wake' | 'reported'>;
  /** Scheme, host and port under which customers see the page; known once it listens. */
  readonly origin: () => string;
}

/** The checkout that a capability opens; where there is none, answers 404. */
export function findCheckout(
  { ledger, capabilities }: Pick<CheckoutSetup, 'ledger' | 'capabilities'>,
  context: Context,
  capability: string,
): OpenedCheckout | undefined {
  const { books } = ledger;
  const found = readCheckout(books, books.checkouts.findByHash(capabilities.hashOf(capability)));
  if (found) context.state.requestId = found.checkout.requestId;
  else say(context, 404, WORDS.unknownCheckout);
  return found;
}

/** Shows where a checkout stands: the form, the bank's question, or how it ended. */
export function showStanding(setup: CheckoutSetup, context: Context, capability: string, found: OpenedCheckout): void {
  const { checkout, entry, cardTry } = found;
  const standing = standingOf(found, setup.clock.now());
  const formToken = setup.capabilities.formTokenOf(capability);
  if (standing === 'open') {
    showTo(context, checkout);
    show(context, 200, formPage({ checkout, entry, formToken, cardTry }));
  } else if (standing === 'challenged' && cardTry) {
    showTo(context, checkout);
    show(context, 200, challengePage({ checkout, entry, formToken, cardTry }));
  } else if (standing !== 'challenged') {
    const httpStatus = standing === 'approved' || standing === 'failed' ? 200 : 410;
    const { title, message } = WORDS.ended[standing];
    const text = { title, message: message(checkout.merchantName, formatAmount(entry.amount, entry.currency)) };
    show(context, httpStatus, messagePage({ text, checkout, approved: standing === 'approved' }));
  }
}

/** Answers with a page of text. */
export function say(context: Context, httpStatus: number, text: Message): void {
  show(context, httpStatus, messagePage({ text }));
}

/** Answers with a page. */
export function show(context: Context, httpStatus: number, page: string): void {
  context.status = httpStatus;
  context.type = 'html';
  context.body = page;
}

/** Headers of every answer: nothing is stored, framed, sniffed, run or told onwards. */
export const protect: Middleware = async (context, next) => {
  context.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy("'none'"),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
  });
  await next();
};

/**
 * Allows the form of an open checkout. Chromium holds form-action against the redirect that answers a form, and
 * against the merchant's own redirects after it, so the scheme of the return URL must be allowed.
 */
export function showTo(context: Context, checkout: Checkout): void {
  const onwards = checkout.returnUrl ? ` ${new URL(checkout.returnUrl).protocol}` : '';
  context.set('Content-Security-Policy', policy(`'self'${onwards}`));
}

function policy(formAction: string): string {
  const parts = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return [...parts, `form-action ${formAction}`].join('; ');
}
