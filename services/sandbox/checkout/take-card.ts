import type { Context } from 'koa';
import type { Clock } from '../clock.ts';
import type { Checkout } from '../ledger/checkout.ts';
import { findCheckout, say, sayClosed } from './answer.ts';
import type { CheckoutSetup } from './app.ts';
import { readCard } from './form.ts';
import { formPage } from './page.ts';
import { receiveForm } from './receive-form.ts';
import { returnUrlWith } from './return-url.ts';
import { showTo } from './security.ts';
import { type Submitted, standingOf, submitCard } from './submit.ts';

/** The customer is sent back once core knows, but is not kept longer than this. */
const LONGEST_REPORT_WAIT_MS = 2_000;

/** POST of the form: judges the card, authorizes, reports, and sends the customer back. */
export async function takeCard(setup: CheckoutSetup, context: Context, capability: string): Promise<void> {
  const found = findCheckout(setup, context, capability);
  if (!found) return;
  const { checkout } = found;
  const form = await receiveForm(setup, context, capability);
  if (!form) return;
  const nowMs = setup.clock.now();
  const standing = standingOf(checkout, found.entry, nowMs);
  const card = readCard(form, nowMs);
  showTo(context, checkout);
  if (standing !== 'open') {
    sayClosed(context, standing, checkout);
  } else if ('errors' in card) {
    const formToken = setup.capabilities.formTokenOf(capability);
    context.status = 422;
    context.body = formPage({ ...found, formToken, errors: card.errors, expiry: form.get('expiry') ?? '' });
  } else {
    const submitted = await setup.ledger.commit((books) => submitCard(books, checkout, { ...card, nowMs }));
    await conclude(setup, context, checkout, submitted);
  }
}

async function conclude(
  { clock, reporter }: CheckoutSetup,
  context: Context,
  checkout: Checkout,
  submitted: Submitted,
): Promise<void> {
  if (submitted.kind === 'closed') return sayClosed(context, submitted.standing, checkout);
  if (submitted.kind === 'unanswered') {
    const message = 'The bank did not answer. Nothing was reserved: open the page again to retry.';
    return say(context, 504, 'No answer', message);
  }
  if (submitted.delayMs > 0) await new Promise<void>((resolve) => clock.after(submitted.delayMs, resolve));
  if (submitted.eventId) await reportedOrLater(clock, reporter, submitted.eventId);
  if (checkout.returnUrl) {
    context.status = 303;
    context.redirect(returnUrlWith(checkout.returnUrl, checkout.requestId));
  } else if (submitted.approved) {
    say(context, 200, 'Reserved', `The amount is reserved for ${checkout.merchantName}.`);
  } else {
    say(context, 200, 'Not reserved', 'The card was refused. Ask the merchant for a new page to try another card.');
  }
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
