import type { Context, Middleware } from 'koa';
import type { Checkout } from '../ledger/checkout.ts';

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
