import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { OutcomeUnknown, RpcError } from '../../../platform/adapter/serve.ts';
import { isReturnUrl } from '../../../platform/return-url.ts';
import {
  Answer,
  type CreateCheckoutRequest,
  type CreateCheckoutResponseSchema,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, intentOf } from '../ledger/entry.ts';
import { CHECKOUT_LONGEST_MS, CHECKOUT_SHORTEST_MS, openPage } from '../settlement/checkout.ts';
import { conclude } from '../settlement/finish.ts';
import { amountRefusal } from '../settlement/operation.ts';

/** What a request takes to arrive must not make a page of the shortest time too short. */
const SLACK_MS = 60_000;

/**
 * Opens a Checkout Session; a repeated request returns the same page. Throws RpcError: INVALID_ARGUMENT for an amount,
 * currency or return URL that cannot be used, FAILED_PRECONDITION when Stripe refuses, the identifier is fenced or its
 * page is closed, ALREADY_EXISTS `identifier_reused`; and OutcomeUnknown.
 */
export async function createCheckout(
  context: Context,
  request: CreateCheckoutRequest,
  closingUrl: string,
): Promise<MessageInitShape<typeof CreateCheckoutResponseSchema>> {
  if (request.returnUrl !== '' && !isReturnUrl(request.returnUrl)) {
    throw new RpcError(status.INVALID_ARGUMENT, 'return_url: must be https, or http on the loopback address');
  }
  const intent = intentOf('checkout', request);
  const refusal = amountRefusal(intent);
  if (refusal) {
    await conclude(context, intent, refusal);
    throw new RpcError(status.INVALID_ARGUMENT, 'amount_not_supported');
  }
  const sentAt = context.now();
  const recalled = await ENTRIES.store(context.database.query, intent, {
    stage: 'sent',
    sentAt,
    lookAt: sentAt,
    expiresAt: endOf(context, request),
    closingUrl,
  });
  if (recalled.refused) throw refusedAs(recalled.refused.errorCode ?? '');
  context.reach('checkout stored');
  const { requestId } = intent;
  const opened = await context.leases.alone(requestId, async () => {
    const entry = (await ENTRIES.find(context.database.query, requestId)) ?? recalled.entry;
    return entry.stage === 'ended' ? entry : openPage(context, entry);
  });
  // The customer has paid on a page that this call would open again: its end is reported.
  if ('answer' in opened && opened.answer === Answer.APPROVED) throw new OutcomeUnknown('it is completed');
  if (!('url' in opened)) throw refusedAs(opened.errorCode);
  return { checkoutUrl: opened.url, expiresAt: timestampFromDate(opened.expiresAt) };
}

/** When the page closes: as asked, within Stripe's bounds. */
function endOf(context: Context, { expiresAt }: CreateCheckoutRequest): Date {
  const nowMs = context.now().getTime();
  const askedMs = expiresAt ? timestampDate(expiresAt).getTime() : 0;
  const soonestMs = nowMs + CHECKOUT_SHORTEST_MS + SLACK_MS;
  return new Date(Math.min(Math.max(askedMs, soonestMs), nowMs + CHECKOUT_LONGEST_MS - SLACK_MS));
}

function refusedAs(code: string): RpcError {
  return new RpcError(code === 'identifier_reused' ? status.ALREADY_EXISTS : status.FAILED_PRECONDITION, code);
}
