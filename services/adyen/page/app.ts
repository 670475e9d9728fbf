import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import Router from '@koa/router';
import Koa, { type Context as Request } from 'koa';
import { UUID } from '../../../platform/adapter/identifier.ts';
import { clientAddress, readAddress, warnOfProxy } from '../../../platform/client-address.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { readBody, UNREAD_STATUS } from '../../../platform/read-body.ts';
import { settlesWithin } from '../../../platform/settles-within.ts';
import type { Context } from '../adapter-context.ts';
import { type Action, ENTRIES, type Entry } from '../ledger/entry.ts';
import { advance } from '../settlement/advance.ts';
import { isStepUp, keepBrowser, keepReturn } from '../settlement/step-up.ts';
import type { PageAddresses } from './addresses.ts';
import { readBrowser } from './browser.ts';
import { forwardPage, type Message, messagePage, standingOf, wayBack } from './pages.ts';

/** What the pages need. */
export interface PageSetup {
  readonly context: Context;
  readonly addresses: PageAddresses;
  readonly trustedHops: number;
  /** Reports to core what is due; resolves when core has it, or did not take it. */
  readonly report: () => Promise<void>;
}

/** What a page loads. */
const ASSETS = ['page.css', 'page.js'].map((name) => [name, readFileSync(new URL(name, import.meta.url))] as const);

const PATH = '/step-up/:requestId/:capability';

/**
 * The pages for customers whose issuer authenticates them. GET shows how an authorization stands, POST goes on to the
 * issuer, `/return` is where the customer comes back from there.
 */
export function pageApp(setup: PageSetup): Koa {
  const { context, addresses, trustedHops } = setup;
  const app = new Koa();
  app.on('error', (error: unknown) => context.log.error('page failed', errorFields(error)));
  const router = new Router();
  router.get('/healthz', (request) => {
    request.body = 'ok';
  });
  for (const [name, content] of ASSETS) {
    router.get(`/step-up/${name}`, (request) => {
      request.set('Cache-Control', 'public, max-age=300');
      request.type = extname(name);
      request.body = content;
    });
  }
  router.get(PATH, (request) => showPage(setup, request));
  router.post(PATH, (request) => goOn(setup, request));
  router.get(`${PATH}/return`, (request) => comeBack(setup, request));
  app.use(logged(context.log));
  if (trustedHops === 0) app.use(warnOfProxy(context.log));
  const protection = protectionOf(addresses);
  app.use(async (request, next) => {
    request.set(protection);
    await next();
  });
  app.use(router.routes()).use(router.allowedMethods());
  app.use((request) => {
    if (request.status === 404) say(request, 404, NOT_FOUND);
  });
  return app;
}

const NOT_FOUND: Message = ['Page not found', 'Check the address, or ask the merchant for a new one.'];

/** One line per request, without its address: that is the capability. */
function logged(log: Log): Koa.Middleware {
  return async (request, next) => {
    const startedAtMs = performance.now();
    try {
      await next();
    } finally {
      const durationMs = Math.round(performance.now() - startedAtMs);
      const { method, status: httpStatus, state } = request;
      log.info('page', { method, requestId: state.requestId, httpStatus, durationMs });
    }
  };
}

/**
 * Headers of every answer: nothing is stored, framed, sniffed or told onwards, and no script runs but our own. Chromium
 * holds form-action against the redirect that answers a form, and against those of the issuer after it.
 */
function protectionOf({ origin }: PageAddresses): Record<string, string> {
  const anywhere = origin.startsWith('https:') ? 'https:' : 'https: http:';
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'; " +
      `form-action 'self' ${anywhere}`,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
  };
}

function show(request: Request, httpStatus: number, page: string): void {
  request.status = httpStatus;
  request.type = 'html';
  request.body = page;
}

function say(request: Request, httpStatus: number, message: Message, entry?: Entry): void {
  show(request, httpStatus, messagePage(message, entry));
}

/** The authorization that the address opens; where there is none, answers 404. */
async function findEntry({ context, addresses }: PageSetup, request: Request): Promise<Entry | undefined> {
  const { requestId = '', capability = '' } = request.params as Record<string, string>;
  const isKnown = UUID.test(requestId) && addresses.isCapability(requestId, capability);
  const entry = isKnown ? await ENTRIES.find(context.database.query, requestId) : undefined;
  if (!entry || entry.stage === '') {
    say(request, 404, NOT_FOUND);
    return undefined;
  }
  request.state.requestId = requestId;
  return entry;
}

/** The authorization as it stands when everything that does not need the customer is done. */
async function settled({ context }: PageSetup, { requestId }: Entry, fresh = false): Promise<Entry> {
  // What runs already may have read an earlier state.
  await context.sending.get(requestId);
  return advance(context, requestId, { fresh });
}

/** Shows where an authorization stands: what happens next, or how it ended. */
async function showPage(setup: PageSetup, request: Request): Promise<void> {
  const found = await findEntry(setup, request);
  if (!found) return;
  const entry = isStepUp(found) ? await settled(setup, found) : found;
  show(request, ...standingOf(entry, setup.context.now()));
}

/**
 * POST of the form: the customer goes on to the issuer. The first form of a page counts; a later one leads to where the
 * first did. Where the issuer asks for nothing, the customer is led back to the merchant.
 */
async function goOn(setup: PageSetup, request: Request): Promise<void> {
  const found = await findEntry(setup, request);
  const form = found && (await receiveForm(request));
  if (!form) return;
  let isFirst = false;
  if (isStepUp(found) && found.stage === 'page') {
    const browser = readBrowser(form, {
      userAgent: request.get('user-agent'),
      acceptHeader: request.get('accept'),
      address: readAddress(clientAddress(request.req, setup.trustedHops)),
    });
    if (!browser) return say(request, 422, NO_BROWSER, found);
    isFirst = await keepBrowser(setup.context, found, browser);
  }
  const entry = await settled(setup, found, isFirst);
  if (isStepUp(entry) && entry.stage === 'redirected' && entry.action) return forward(request, entry.action);
  if (!isStepUp(entry)) return leadBack(setup, request, entry);
  show(request, ...standingOf(entry, setup.context.now()));
}

const NO_BROWSER: Message = [
  'Your browser did not say enough',
  'The bank asks for its language, time zone and screen. Turn JavaScript on, and open the address again.',
];

const BODY_BOUNDS = { maxBytes: 4 * 1024, timeoutMs: 5_000 };

/** The submitted form; else answers why it is not taken. */
async function receiveForm(request: Request): Promise<URLSearchParams | undefined> {
  if (!request.is('application/x-www-form-urlencoded')) {
    return refuse(request, 415, 'Only the form of this page is accepted.');
  }
  const body = await readBody(request.req, BODY_BOUNDS);
  if (typeof body !== 'string') return new URLSearchParams(body.toString('utf8'));
  return refuse(request, UNREAD_STATUS[body], 'The form is too large, or came too slowly.');
}

/** What was sent is not read any further, so the connection cannot be used again. */
function refuse(request: Request, httpStatus: number, why: string): undefined {
  request.set('Connection', 'close');
  say(request, httpStatus, ['Not accepted', why]);
}

/** Sends the customer where Adyen says. */
function forward(request: Request, action: Action): void {
  if (action.method === 'POST') show(request, 200, forwardPage(action));
  else seeOther(request, action.url);
}

function seeOther(request: Request, url: string): void {
  request.status = 303;
  request.redirect(url);
}

/** Where the issuer, or Adyen, sends the customer back to. */
async function comeBack(setup: PageSetup, request: Request): Promise<void> {
  const found = await findEntry(setup, request);
  if (!found) return;
  const { redirectResult } = request.query;
  if (isStepUp(found)) {
    if (typeof redirectResult !== 'string' || redirectResult === '') return say(request, 400, NOTHING_SAID, found);
    await keepReturn(setup.context, found.requestId, redirectResult);
  }
  const entry = isStepUp(found) ? await settled(setup, found) : found;
  const isRefused = isStepUp(entry) && entry.stage !== 'returned' && entry.stage !== 'pending';
  if (isRefused) return say(request, 400, NOT_THIS, entry);
  await leadBack(setup, request, entry);
}

const NOTHING_SAID: Message = [
  'Nothing confirmed',
  'The address has no answer of your bank. Nothing was changed by it.',
];
const NOT_THIS: Message = ['Nothing confirmed', 'The answer is not about this payment. Nothing was changed by it.'];

/** The customer is sent back once core knows, but is not kept longer than this. */
const LONGEST_REPORT_WAIT_MS = 2_000;

async function leadBack({ report }: PageSetup, request: Request, entry: Entry): Promise<void> {
  await settlesWithin(LONGEST_REPORT_WAIT_MS, report());
  seeOther(request, wayBack(entry));
}
