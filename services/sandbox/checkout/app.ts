import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { errorFields, type Log } from '../../../platform/log.ts';
import { readBody, UNREAD_STATUS } from '../../../platform/read-body.ts';
import { settlesWithin } from '../../../platform/settles-within.ts';
import { type Clock, pause } from '../clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Capabilities } from './capability.ts';
import { type Mistakes, readCard } from './form.ts';
import { challengePage, endPage, formPage, type Message, messagePage } from './pages.ts';
import { type OpenedCheckout, readCheckout, type Submission, standingOf, submit } from './submit.ts';

/** What the page needs. */
export interface CheckoutSetup {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly capabilities: Capabilities;
  /** Reports to core what is due; resolves when core has it, or did not take it. */
  readonly report: () => Promise<void>;
}

/** What the page loads. */
const ASSETS = ['checkout.css', 'checkout.js'].map(
  (name) => [name, readFileSync(new URL(name, import.meta.url))] as const,
);

/** The hosted page: GET shows how a checkout stands, POST moves it on. */
export function checkoutApp(setup: CheckoutSetup): Koa {
  const app = new Koa();
  app.on('error', (error: unknown) => setup.log.error('checkout failed', errorFields(error)));
  const router = new Router();
  router.get('/healthz', (context) => {
    context.body = 'ok';
  });
  for (const [name, content] of ASSETS) {
    router.get(`/${name}`, (context) => {
      context.set('Cache-Control', 'public, max-age=300');
      context.type = extname(name);
      context.body = content;
    });
  }
  router.get('/checkout/:capability', (context) => showCheckout(setup, context));
  router.post('/checkout/:capability', (context) => takeForm(setup, context));
  app.use(logged(setup.log));
  app.use(async (context, next) => {
    context.set(PROTECTION);
    await next();
  });
  app.use(router.routes()).use(router.allowedMethods());
  app.use((context) => {
    if (context.status === 404) say(context, 404, ['Page not found', 'There is nothing here.']);
  });
  return app;
}

/** One line per request, without its address: that is the capability. */
function logged(log: Log): Koa.Middleware {
  return async (context, next) => {
    const startedAtMs = performance.now();
    try {
      await next();
    } finally {
      log.info('checkout', {
        method: context.method,
        requestId: context.state.requestId,
        httpStatus: context.status,
        durationMs: Math.round(performance.now() - startedAtMs),
      });
    }
  };
}

/**
 * Headers of every answer: nothing is stored, framed, sniffed, run or told onwards. Chromium holds form-action against
 * the redirect that answers a form, and against the merchant's own redirects after it, so it allows every return URL.
 */
const PROTECTION = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    "form-action 'self' https: http:",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
};

function show(context: Context, httpStatus: number, page: string): void {
  context.status = httpStatus;
  context.type = 'html';
  context.body = page;
}

function say(context: Context, httpStatus: number, message: Message): void {
  show(context, httpStatus, messagePage(message));
}

type Found = OpenedCheckout & { readonly capability: string; readonly formToken: string };

/** The checkout that the address opens; where there is none, answers 404. */
function findCheckout({ ledger, capabilities }: CheckoutSetup, context: Context): Found | undefined {
  const capability = String(context.params.capability);
  const { books } = ledger;
  const found = readCheckout(books, books.checkouts.findByHash(capabilities.hashOf(capability)));
  if (!found) {
    say(context, 404, ['Checkout not found', 'Check the address, or ask the merchant for a new one.']);
    return undefined;
  }
  context.state.requestId = found.checkout.requestId;
  return { ...found, capability, formToken: capabilities.formTokenOf(capability) };
}

/** Shows where a checkout stands: the form, the bank's question, or how it ended. */
function showCheckout(setup: CheckoutSetup, context: Context): void {
  const found = findCheckout(setup, context);
  if (!found) return;
  const standing = standingOf(found, setup.clock.now());
  if (standing === 'open' || standing === 'challenged') {
    show(context, 200, standing === 'open' ? formPage(found) : challengePage(found));
  } else {
    show(context, standing === 'approved' || standing === 'failed' ? 200 : 410, endPage(found, standing));
  }
}

/**
 * POST of a form: a card, the answer to a challenge, or the wish to cancel. What is decided is answered with a
 * redirect, so that a reload or a step back shows how the checkout stands and sends nothing again.
 */
async function takeForm(setup: CheckoutSetup, context: Context): Promise<void> {
  const { ledger, clock, report } = setup;
  const found = findCheckout(setup, context);
  const form = found && (await receiveForm(context, found.formToken));
  if (!form) return;
  const { checkout, capability } = found;
  const nowMs = clock.now();
  const submission = submissionOf(form, nowMs);
  const isWrong = 'errors' in submission;
  if (isWrong && standingOf(found, nowMs) === 'open') {
    show(context, 422, formPage({ ...found, ...submission }));
    return;
  }
  const delayMs = isWrong
    ? undefined
    : await ledger.commit((books) => submit(books, checkout.requestId, submission, nowMs));
  context.status = 303;
  // Relative, so that it holds behind a proxy that adds to the path, too.
  if (delayMs === undefined) return context.redirect(capability);
  if (delayMs > 0) await pause(clock, delayMs);
  // It is reported later all the same.
  await settlesWithin(LONGEST_REPORT_WAIT_MS, report());
  context.redirect(checkout.returnUrl || capability);
}

const BODY_BOUNDS = { maxBytes: 4 * 1024, timeoutMs: 5_000 };

/** The submitted form when it comes from our own page; else answers why it is not taken. */
async function receiveForm(context: Context, formToken: string): Promise<URLSearchParams | undefined> {
  if (!context.is('application/x-www-form-urlencoded')) {
    return refuse(context, 415, 'Only the form of this page is accepted.');
  }
  const body = await readBody(context.req, BODY_BOUNDS);
  if (typeof body === 'string')
    return refuse(context, UNREAD_STATUS[body], 'The form is too large, or came too slowly.');
  const form = new URLSearchParams(body.toString('utf8'));
  if (form.get('formToken') === formToken) return form;
  return refuse(context, 403, 'This form was not sent from our page. Open the address again.');
}

/** What was sent is not read any further, so the connection cannot be used again. */
function refuse(context: Context, httpStatus: number, why: string): undefined {
  context.set('Connection', 'close');
  say(context, httpStatus, ['Not accepted', why]);
}

function submissionOf(form: URLSearchParams, nowMs: number): Submission | Mistakes {
  const action = form.get('action');
  if (action === 'cancel') return { cancels: true };
  if (action !== 'pass' && action !== 'fail') return readCard(form, nowMs);
  return { challenge: Number(form.get('challenge')), passed: action === 'pass' };
}

/** The customer is sent back once core knows, but is not kept longer than this. */
const LONGEST_REPORT_WAIT_MS = 2_000;
