import type { Context } from 'koa';
import { readBody } from '../../../platform/http-server.ts';
import type { Clock } from '../clock.ts';
import type { Checkout } from '../ledger/checkout.ts';
import type { Books } from '../ledger/ledger.ts';
import { type CheckoutSetup, findCheckout, say, show, showTo } from './answer.ts';
import { readCard } from './form.ts';
import { formPage } from './form-page.ts';
import { answerChallenge, cancel, type OpenedCheckout, type Submitted, standingOf, submitCard } from './submit.ts';
import { type Refusal, WORDS } from './words.ts';

const LARGEST_BODY_BYTES = 4 * 1024;
/** The customer is sent back once core knows, but is not kept longer than this. */
const LONGEST_REPORT_WAIT_MS = 2_000;

/**
 * POST of a form: a card, the answer to a challenge, or the wish to cancel. What is decided is answered with a
 * redirect, so that a reload or a step back shows how the checkout stands and sends nothing again.
 */
export async function takeForm(setup: CheckoutSetup, context: Context, capability: string): Promise<void> {
  const found = findCheckout(setup, context, capability);
  if (!found) return;
  const form = await receiveForm(setup, context, capability);
  if (!form) return;
  showTo(context, found.checkout);
  const decide = decisionOf(form, found, setup.clock.now());
  if ('errors' in decide) {
    const formToken = setup.capabilities.formTokenOf(capability);
    show(context, 422, formPage({ ...found, formToken, ...decide }));
    return;
  }
  const submitted = await setup.ledger.commit(decide);
  await conclude(setup, context, { capability, checkout: found.checkout, submitted });
}

/** The submitted form when it comes from our own page; else answers why it is not taken. */
async function receiveForm(
  { capabilities, origin }: Pick<CheckoutSetup, 'capabilities' | 'origin'>,
  context: Context,
  capability: string,
): Promise<URLSearchParams | undefined> {
  if (isForeign(context, origin())) return refuse(context, 403, 'foreign');
  if (!context.is('application/x-www-form-urlencoded')) {
    return refuse(context, 415, 'wrongType');
  }
  const body = await readBody(context.req, LARGEST_BODY_BYTES);
  if (!body) return refuse(context, 413, 'tooLarge');
  const form = new URLSearchParams(body.toString('utf8'));
  if (!capabilities.isFormToken(form.get('formToken') ?? '', capability)) return refuse(context, 403, 'foreign');
  return form;
}

/** Under no-referrer browsers send `Origin: null`, to ourselves too; Sec-Fetch-Site still tells them apart. */
function isForeign(context: Context, ownOrigin: string): boolean {
  const origin = context.get('Origin');
  const site = context.get('Sec-Fetch-Site');
  return (origin !== '' && origin !== 'null' && origin !== ownOrigin) || (site !== '' && site !== 'same-origin');
}

/** What was sent is not read any further, so the connection cannot be used again. */
function refuse(context: Context, httpStatus: number, refusal: Refusal): undefined {
  context.set('Connection', 'close');
  say(context, httpStatus, { title: WORDS.notAccepted, message: WORDS.refusals[refusal] });
}

function decisionOf(form: URLSearchParams, found: OpenedCheckout, nowMs: number) {
  const { requestId } = found.checkout;
  const action = form.get('action');
  if (action === 'cancel') return (books: Books) => cancel(books, requestId, nowMs);
  if (action === 'pass' || action === 'fail') {
    const answer = { number: Number(form.get('challenge')), passed: action === 'pass' };
    return (books: Books) => answerChallenge(books, requestId, answer, nowMs);
  }
  const card = readCard(form, nowMs);
  if ('errors' in card && standingOf(found, nowMs) === 'open') return card;
  return (books: Books) => ('errors' in card ? ({ ended: false } as const) : submitCard(books, requestId, card, nowMs));
}

async function conclude(
  { clock, reporter }: CheckoutSetup,
  context: Context,
  { capability, checkout, submitted }: { capability: string; checkout: Checkout; submitted: Submitted },
): Promise<void> {
  context.status = 303;
  // Relative, so that it holds behind a proxy that adds to the path, too.
  if (!submitted.ended) return context.redirect(capability);
  const { delayMs, eventId } = submitted;
  if (delayMs > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
  if (eventId) await reportedOrLater(clock, reporter, eventId);
  context.redirect(checkout.returnUrl || capability);
}

/** Waits for core to have the event, but not for long: it is reported later all the same. */
function reportedOrLater(clock: Clock, reporter: CheckoutSetup['reporter'], eventId: string): Promise<void> {
  return new Promise((resolve) => {
    const callOff = clock.after(LONGEST_REPORT_WAIT_MS, resolve);
    reporter.reported(eventId).then(() => {
      callOff();
      resolve();
    });
    reporter.wake();
  });
}
