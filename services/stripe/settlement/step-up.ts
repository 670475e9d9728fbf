/** An authorization whose issuer asks the customer for authentication: its customer is on a page of the issuer's. */
import type Stripe from 'stripe';
import { declined, notPerformed } from '../../../platform/adapter/ending.ts';
import { NO_RESULT } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ask } from '../api/ask.ts';
import type { Ending, Entry } from '../ledger/entry.ts';
import { fenceIntent } from './fence.ts';
import { finish } from './finish.ts';
import { endingOf, getIntent } from './intent-ending.ts';

const EXPIRED = notPerformed('authentication_expired', 'The customer was not authenticated in time.');
const CANCELLED = notPerformed('authentication_cancelled', 'The merchant cancelled the authentication.');
const FAILED = declined('authentication_failed', 'The customer was not authenticated.');

/** Returns whether an authorization waits for its customer, or is being made impossible after it did. */
export function isAwaitingCustomer({ kind, stage, answer }: Entry): boolean {
  return kind === 'authorization' && stage !== 'ended' && answer === Answer.ACCEPTED;
}

/** That an authorization waits for its customer; undefined = Stripe names no page, or there is no way back. */
export function waitingOf(intent: Stripe.PaymentIntent, entry: Entry): Ending | undefined {
  const actionUrl = intent.next_action?.redirect_to_url?.url;
  if (intent.status !== 'requires_action' || entry.returnUrl === '' || !actionUrl) return undefined;
  const { expiresAt } = entry;
  return { ...NO_RESULT, answer: Answer.ACCEPTED, actionUrl, expiresAt, expectedBy: expiresAt };
}

/**
 * Asks Stripe about an authorization that waits for its customer; returns it as it is afterwards, undefined when Stripe
 * did not say. A redirect has no end at Stripe, and nothing announces that its customer left it: what is over here is
 * cancelled there. So is one whose customer failed, which could be tried again otherwise.
 */
export async function settleStepUp(context: Context, entry: Entry): Promise<Entry | undefined> {
  const { answer: intent } = await ask(context, () => getIntent(context, entry));
  if (!intent) return undefined;
  const hasFailed = intent.status === 'requires_payment_method' || intent.status === 'requires_confirmation';
  const ending = endingOf(intent, entry);
  if (hasFailed) return fenceIntent(context, entry, isAboutCustomer(intent) || !ending ? FAILED : ending);
  if (ending && entry.stage === 'sent') return finish(context, entry, ending);
  const isOver = entry.expiresAt !== null && entry.expiresAt <= context.now();
  if (isOver || entry.stage === 'fencing') return fenceIntent(context, entry, EXPIRED);
  return entry;
}

/** Closes the page of an authorization that waits for its customer, unless the customer was first. */
export async function cancelStepUp(context: Context, entry: Entry): Promise<Entry | undefined> {
  const seen = await settleStepUp(context, entry);
  return seen && isAwaitingCustomer(seen) ? fenceIntent(context, seen, CANCELLED) : seen;
}

/** Returns whether it failed because the customer was not authenticated, not because of the card. */
function isAboutCustomer({ last_payment_error: error }: Stripe.PaymentIntent): boolean {
  return error?.code === 'payment_intent_authentication_failure';
}
