import type Stripe from 'stripe';
import { declined, notPerformed } from '../../../platform/adapter/ending.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { withRequestId } from '../../../platform/return-url.ts';
import { type Context, requestOptions, statementOf } from '../adapter-context.ts';
import { toStripe } from '../amount.ts';
import { ask, type Failure } from '../api/ask.ts';
import { type Entry, markEntry } from '../ledger/entry.ts';
import { type Features, withFeatures } from './features.ts';
import { fenceIntent } from './fence.ts';
import { finish } from './finish.ts';
import { endingOf, getIntent } from './intent-ending.ts';
import { metadataOf } from './mark.ts';
import { isAwaitingCustomer, settleStepUp, waitingOf } from './step-up.ts';

/**
 * Places an authorization whose intent is stored: a PaymentIntent is created, its id stored, then it is confirmed.
 * Repeated after a crash, it continues where it stopped. Returns the ended entry; throws OutcomeUnknown.
 */
export async function place(context: Context, entry: Entry, customer: string | undefined): Promise<Entry> {
  const created = entry.stage === 'stored' ? await createIntent(context, entry, customer) : entry;
  if (created.stage === 'ended') return created;
  if (created.stage === 'fencing') throw new OutcomeUnknown('this authorization is being fenced');
  const confirmed = await withFeatures(context, created, (features, key) => confirm(context, created, features, key));
  context.reach('confirmation answered');
  if (confirmed.answer) return settleBy(context, created, confirmed.answer);
  const { failure, doubt } = confirmed;
  if (failure.kind === 'declined') {
    return finish(context, created, declined(failure.code, failure.message, failure.card));
  }
  const isFirst = !doubt && entry.stage === 'stored';
  const { answer: intent } = await ask(context, () => getIntent(context, created));
  return settleBy(context, created, intent, isFirst || failure.kind === 'refused' ? failure : undefined);
}

/**
 * Reads the PaymentIntent of an authorization and settles by what it says; undefined when it says nothing final, nor
 * where the customer goes.
 */
export async function settleByLook(context: Context, entry: Entry, { tell = false } = {}): Promise<Entry | undefined> {
  const { answer: intent } = await ask(context, () => getIntent(context, entry));
  const ending = intent && (waitingOf(intent, entry) ?? endingOf(intent, entry));
  return ending && finish(context, entry, ending, { tell });
}

/** Finds out what became of an authorization, and makes sure that nothing will when nothing did. */
export async function endAuthorization(context: Context, entry: Entry): Promise<Entry | undefined> {
  if (entry.stage === 'stored') {
    return finish(context, entry, notPerformed('never_confirmed', 'It was never sent to Stripe.'));
  }
  if (isAwaitingCustomer(entry)) return settleStepUp(context, entry);
  const looked = entry.stage === 'sent' ? await settleByLook(context, entry) : undefined;
  return looked ?? fenceIntent(context, entry);
}

/** Its id is stored before it is confirmed: from then on it can be looked at, and fenced by cancelling it. */
async function createIntent(context: Context, entry: Entry, customer: string | undefined): Promise<Entry> {
  const { answer: intent, failure } = await ask(context, () => create(context, entry, customer));
  if (!intent) return refuseToPlace(context, entry, failure);
  context.reach('intent created');
  const to = { stage: 'sent', intentId: intent.id, sentAt: context.now() } as const;
  const sent = await markEntry(context.database.query, entry.requestId, ['stored'], to);
  if (!sent) throw new OutcomeUnknown('this authorization was settled meanwhile');
  context.reach('intent stored');
  return sent;
}

function create(context: Context, entry: Entry, customer: string | undefined) {
  const { requestId, amount, currency, account } = entry;
  const description = entry.description || entry.merchantReference;
  const params: Stripe.PaymentIntentCreateParams = {
    amount: toStripe(amount, currency) as number,
    currency: currency.toLowerCase(),
    capture_method: 'manual',
    allowed_payment_method_types: ['card'],
    ...(customer !== undefined && { customer }),
    ...(description !== '' && { description }),
    ...statementOf(context, entry.merchantId),
    metadata: metadataOf(entry),
  };
  return context.stripe.paymentIntents.create(params, requestOptions(account, `${requestId}:create`));
}

function confirm(context: Context, entry: Entry, features: Features, key: string) {
  const { intentId, tokenId, account, customerPresent, returnUrl, challenge } = entry;
  const card = { ...features, ...(challenge && ({ request_three_d_secure: 'challenge' } as const)) };
  const params: Stripe.PaymentIntentConfirmParams = {
    payment_method: tokenId,
    off_session: !customerPresent,
    ...(Object.keys(card).length > 0 && { payment_method_options: { card } }),
    ...(returnUrl !== '' && { return_url: withRequestId(returnUrl, entry.operationRequestId || entry.requestId) }),
    expand: ['latest_charge'],
  };
  return context.stripe.paymentIntents.confirm(intentId as string, params, requestOptions(account, key));
}

/** Nothing was confirmed, so nothing was authorized, whatever became of the creation. */
function refuseToPlace(context: Context, entry: Entry, failure: Failure): Promise<Entry> {
  const said = failure.kind === 'refused' || failure.kind === 'turned away' ? failure : UNAVAILABLE;
  return finish(context, entry, notPerformed(said.code, said.message), { from: ['stored'] });
}
const UNAVAILABLE = { code: 'processor_unavailable', message: 'Stripe could not be asked.' };

/**
 * The PaymentIntent itself says whether a confirmation acted. `failure` is why the confirmation failed, when no other
 * one can still act.
 */
async function settleBy(context: Context, entry: Entry, intent?: Stripe.PaymentIntent, failure?: Failure) {
  const ending = intent && endingOf(intent, entry);
  if (ending) return finish(context, entry, ending);
  const waiting = intent && waitingOf(intent, entry);
  if (waiting) return finish(context, entry, waiting);
  if (intent?.status === 'requires_action') return giveUp(context, entry);
  const isUnconfirmed = intent?.status === 'requires_payment_method' || intent?.status === 'requires_confirmation';
  if (isUnconfirmed && (failure?.kind === 'refused' || failure?.kind === 'turned away')) {
    const isAboutToken = failure.kind === 'refused' && failure.param === 'payment_method';
    return finish(context, entry, notPerformed(isAboutToken ? 'token_invalid' : failure.code, failure.message));
  }
  throw new OutcomeUnknown('what became of the confirmation is not known');
}

/**
 * The issuer wants the customer to authenticate, and there is no customer at hand. The PaymentIntent is cancelled for
 * good.
 */
async function giveUp(context: Context, entry: Entry): Promise<Entry> {
  const ending = declined('authentication_required', 'The issuer asks the customer to authenticate.');
  const fenced = await fenceIntent(context, entry, ending);
  if (!fenced) throw new OutcomeUnknown('the payment could not be cancelled yet');
  return fenced;
}
