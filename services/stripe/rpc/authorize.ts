import { timestampMs } from '@bufbuild/protobuf/wkt';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import type { ResultInit } from '../../../platform/adapter/entry.ts';
import type { AuthorizeRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Context, requestOptions } from '../adapter-context.ts';
import { ask } from '../api/ask.ts';
import { ENTRIES, type Ending, type Entry, intentOf, ownerOfToken, resultOf } from '../ledger/entry.ts';
import { place } from '../settlement/authorization.ts';
import { CHECKOUT_LONGEST_MS } from '../settlement/checkout.ts';
import { finish } from '../settlement/finish.ts';
import { amountRefusal } from '../settlement/operation.ts';
import { isAwaitingCustomer, settleStepUp } from '../settlement/step-up.ts';

/** Reserves an amount on the card of a token: a PaymentMethod `pm_…`. */
export async function authorize(context: Context, request: AuthorizeRequest): Promise<ResultInit> {
  const expiresAt = pageEndOf(context, request);
  const recalled = await ENTRIES.store(context.database.query, intentOf('authorization', request), { expiresAt });
  if (recalled.refused) return recalled.refused;
  if (recalled.entry.stage === 'ended') return resultOf(recalled.entry);
  context.reach('authorization stored');
  return resultOf(await context.leases.alone(request.requestId, () => placeNow(context, recalled.entry)));
}

/** When a customer who is to be authenticated must have come back: as asked, within a day. */
function pageEndOf(context: Context, { returnUrl, actionExpiresAt }: AuthorizeRequest): Date | null {
  if (returnUrl === '') return null;
  const latestMs = context.now().getTime() + CHECKOUT_LONGEST_MS;
  return new Date(Math.min(actionExpiresAt ? timestampMs(actionExpiresAt) : latestMs, latestMs));
}

async function placeNow(context: Context, recalled: Entry): Promise<Entry> {
  const entry = (await ENTRIES.find(context.database.query, recalled.requestId)) ?? recalled;
  if (entry.stage === 'ended') return entry;
  if (isAwaitingCustomer(entry)) return (await settleStepUp(context, entry)) ?? entry;
  if (entry.stage !== 'stored') return place(context, entry, undefined);
  const refusal = amountRefusal(entry);
  if (refusal) return finish(context, entry, refusal);
  const card = await cardOf(context, entry);
  return card.refused ? finish(context, entry, card.refused) : place(context, entry, card.customer);
}

/** The customer that a card belongs to, if any; or why there is no such card. */
type Card = { readonly refused: Ending } | { readonly refused?: undefined; readonly customer: string | undefined };

/**
 * A card that is attached to a customer is charged for that customer only. Nothing was sent yet, so a failure is final.
 */
async function cardOf(context: Context, { tokenId, merchantId, account }: Entry): Promise<Card> {
  const invalid = { refused: notPerformed('token_invalid', 'There is no such card token.') };
  const owner = await ownerOfToken(context.database.query, tokenId);
  if (owner && (owner.merchantId !== merchantId || owner.account !== account)) return invalid;
  if (!/^\w+$/.test(tokenId)) return invalid;
  const asked = await ask(context, () => context.stripe.paymentMethods.retrieve(tokenId, {}, requestOptions(account)));
  if (asked.answer) {
    const { customer } = asked.answer;
    return { customer: typeof customer === 'string' ? customer : customer?.id };
  }
  const { failure } = asked;
  if (failure.kind === 'refused' && failure.code === 'resource_missing') return invalid;
  if (failure.kind === 'refused') return { refused: notPerformed(failure.code, failure.message) };
  const code = failure.kind === 'turned away' ? failure.code : 'processor_unavailable';
  return { refused: notPerformed(code, 'Stripe could not be asked for the card.') };
}
