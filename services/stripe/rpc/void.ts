import { Answer, type VoidRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { type Ending, type Entry, NO_INTENT } from '../ledger/entry.ts';
import { fenceIntent, settleByLook } from '../settlement/authorization.ts';
import { remainingOf } from '../settlement/capture.ts';
import { closePage, settleCheckout } from '../settlement/checkout.ts';
import { approved, notPerformed } from '../settlement/ending.ts';
import { finish } from '../settlement/finish.ts';
import { OutcomeUnknown } from '../settlement/unknown.ts';
import { endedAlready, operate } from './operate.ts';
import type { ResultInit } from './result.ts';

/**
 * Gives back what is left of an authorization, or closes an open checkout. Approved also when nothing was left:
 * afterwards nothing is reserved, which is what was asked.
 */
export function voidAuthorization(desk: Desk, request: VoidRequest): Promise<ResultInit> {
  const { requestId, authorizationRequestId, merchantId, account } = request;
  const intent = { ...NO_INTENT, requestId, kind: 'void' as const, authorizationRequestId, merchantId, account };
  return operate(desk, {
    intent,
    stored: 'void stored',
    judge: (authorization) => judge(desk, intent, authorization),
    baseline: ({ captured }) => captured,
  });
}

const CLOSED_PAGE = new Set(['checkout_cancelled', 'checkout_expired']);

async function judge(
  desk: Desk,
  intent: { merchantId: string; account: string },
  authorization: Entry,
): Promise<Ending | undefined> {
  const { merchantId, account } = authorization;
  const isOther = (said: string, own: string) => said !== '' && said !== own;
  if (isOther(intent.merchantId, merchantId) || isOther(intent.account, account)) {
    return notPerformed(desk.now(), 'authorization_not_found', 'There is no such authorization of this merchant.');
  }
  const ended = authorization.stage === 'ended' ? authorization : await endFirst(desk, authorization);
  const nothingLeft = approved(desk.now(), { reference: ended.intentId ?? '' });
  if (CLOSED_PAGE.has(ended.errorCode)) return nothingLeft;
  if (ended.answer !== Answer.APPROVED) {
    const message = 'The authorization was refused: nothing is reserved.';
    return notPerformed(desk.now(), 'authorization_not_approved', message);
  }
  return endedAlready(desk, ended) ?? (remainingOf(ended) === 0n ? nothingLeft : undefined);
}

/** An open page is closed; an authorization of which nothing is known yet is fenced, when it was not made. */
async function endFirst(desk: Desk, entry: Entry): Promise<Entry> {
  const ended =
    entry.kind === 'checkout'
      ? ((await closePage(desk, entry)) ?? (await settleCheckout(desk, entry, true)))
      : await endAuthorization(desk, entry);
  if (!ended) throw new OutcomeUnknown('it is not known yet what became of the authorization');
  return ended;
}

/** Finds out what became of an authorization, and makes sure that nothing will when nothing did. */
export async function endAuthorization(desk: Desk, entry: Entry): Promise<Entry | undefined> {
  if (entry.stage === 'stored') {
    return finish(desk, entry, notPerformed(desk.now(), 'never_confirmed', 'It was never sent to Stripe.'));
  }
  const looked = entry.stage === 'sent' ? await settleByLook(desk, entry) : undefined;
  return looked ?? fenceIntent(desk, entry);
}
