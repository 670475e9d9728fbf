import type { Context } from 'koa';
import type { Clock } from '../clock.ts';
import type { Checkout } from '../ledger/checkout.ts';
import type { Books } from '../ledger/ledger.ts';
import { findCheckout, show } from './answer.ts';
import { readCard } from './form.ts';
import { formPage } from './form-page.ts';
import { receiveForm } from './receive-form.ts';
import { returnUrlWith } from './return-url.ts';
import { showTo } from './security.ts';
import type { CheckoutSetup } from './setup.ts';
import { type OpenedCheckout, standingOf } from './standing.ts';
import { answerChallenge, cancel, type Submitted, submitCard } from './submit.ts';

/** The customer is sent back once core knows, but is not kept longer than this. */
const LONGEST_REPORT_WAIT_MS = 2_000;

/**
 * POST of a form: a card, the answer to a challenge, or the wish to cancel. What is decided is answered with a redirect,
 * so that a reload or a step back shows how the checkout stands and sends nothing again.
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
    show(context, 422, (language) => formPage({ language, ...found, formToken, ...decide }));
    return;
  }
  const submitted = await setup.ledger.commit(decide);
  await conclude(setup, context, { capability, checkout: found.checkout, submitted });
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
  context.redirect(checkout.returnUrl ? returnUrlWith(checkout.returnUrl, checkout.requestId) : capability);
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
