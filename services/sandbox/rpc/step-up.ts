import { timestampMs } from '@bufbuild/protobuf/wkt';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import type { ResultInit } from '../../../platform/adapter/entry.ts';
import { isReturnUrl } from '../../../platform/return-url.ts';
import { Answer, type AuthorizeRequest, ThreeDSecure } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { AUTHENTICATION_REQUIRED, behaviourOf } from '../behaviour.ts';
import type { Card } from '../ledger/checkout.ts';
import { type Intent, NO_ENDING } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { conclude, type Outcome, resultOf } from './outcome.ts';
import { addressOf, hasOpenPage, PAGE_PERIOD_MS, type Pages, wayBack } from './page.ts';

/** What an authorization says of its customer. */
export type StepUp = Partial<Pick<AuthorizeRequest, 'returnUrl' | 'threeDSecure' | 'actionExpiresAt'>>;

/** Returns whether the issuer of a card authenticates the customer. */
export function isChallenged({ behaviour }: Card, { threeDSecure }: StepUp): boolean {
  return behaviourOf(behaviour).challenge !== undefined || threeDSecure === ThreeDSecure.CHALLENGE;
}

/**
 * Lets a new authorization wait for its customer, on the page that stands for the issuer's. Without a way back for the
 * customer it is DECLINED `authentication_required`.
 */
export function challenge(
  books: Books,
  intent: Intent,
  { returnUrl = '', actionExpiresAt }: StepUp,
  { card, pages, nowMs }: { readonly card: Card; readonly pages: Pages; readonly nowMs: number },
): Outcome {
  if (returnUrl === '') return conclude(books, intent, { effect: AUTHENTICATION_REQUIRED, card, nowMs });
  if (!isReturnUrl(returnUrl)) return conclude(books, intent, { effect: NOT_A_RETURN_URL, card, nowMs });
  const { requestId, merchantId: merchantName, merchantReference, operationRequestId } = intent;
  const { capabilities } = pages;
  const askedMs = actionExpiresAt ? timestampMs(actionExpiresAt) : Number.POSITIVE_INFINITY;
  const expiresAtMs = Math.min(askedMs, nowMs + PAGE_PERIOD_MS);
  const { behaviour } = card;
  const waiting = { behaviour, answer: Answer.ACCEPTED, actedAtMs: nowMs, expectedByMs: expiresAtMs };
  books.entries.insert(intent, { ...NO_ENDING, ...waiting });
  books.checkouts.insert({
    requestId,
    capabilityHash: capabilities.hashOf(capabilities.capabilityOf(requestId)),
    merchantName,
    merchantReference,
    description: '',
    returnUrl: wayBack(returnUrl, requestId, operationRequestId),
    saveCard: 0,
    expiresAtMs,
  });
  books.cardTries.put(requestId, card);
  return { result: shownResult(books, requestId, pages) };
}

const NOT_A_RETURN_URL = notPerformed('return_url_invalid', 'It must be https, or http on the loopback address.');

/** The result of an entry, with the page that its customer is to go to while it waits for one. */
export function shownResult(books: Books, requestId: string, pages: Pages): ResultInit {
  const entry = books.entries.get(requestId);
  if (entry.kind !== 'authorization' || !hasOpenPage(books, entry)) return resultOf(entry);
  return resultOf(entry, { url: addressOf(books, requestId, pages), expiresAt: new Date(entry.expectedByMs) });
}
