import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Ability, APPROVED, type BehaviourName, type Effect, isAble, notPerformed } from '../behaviour.ts';
import type { Entry, Intent } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { agrees, endedElsewhere, findAuthorization } from './authorization.ts';
import { conclude, type Outcome } from './outcome.ts';
import { effectOf } from './perform.ts';
import { recall } from './recall.ts';

/**
 * Does something with an approved authorization: recalls the identifier, judges what holds for every such operation,
 * then what the operation itself demands, and ends it as the card behaves.
 */
export function follow(
  books: Books,
  intent: Intent,
  nowMs: number,
  refusalOf: (authorization: Entry) => Effect | undefined,
): Outcome {
  const earlier = recall(books, intent);
  if (earlier) return earlier;
  const authorization = findAuthorization(books, intent.authorizationRequestId);
  if (authorization?.answer !== Answer.APPROVED) {
    const effect = notPerformed('authorization_not_found', 'There is no such authorization.');
    return conclude(books, intent, { effect, nowMs });
  }
  const behaviour = authorization.behaviour as BehaviourName;
  const refusal = mismatch(authorization, intent) ?? refusalOf(authorization);
  const effect = refusal ?? effectOf(behaviour, intent.kind) ?? APPROVED;
  const { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear } = authorization;
  const card = { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear };
  return conclude(books, intent, { effect, behaviour, card, nowMs });
}

function mismatch(authorization: Entry, intent: Intent): Effect | undefined {
  const same =
    agrees(authorization.merchantId, intent.merchantId) &&
    agrees(authorization.account, intent.account) &&
    agrees(authorization.currency, intent.currency);
  return same ? undefined : mismatched();
}

/** A refusal: the operation's parties are not the authorization's. */
export function mismatched(): Effect {
  return notPerformed('authorization_mismatch', 'Merchant, account or currency are not those of the authorization.');
}

/** A refusal unless an authorization is still open: not ended, by its time or by somebody. */
export function closed(authorization: Entry, nowMs: number): Effect | undefined {
  const { expiresAtMs, extendedToMs } = authorization;
  if (nowMs >= Math.max(expiresAtMs, extendedToMs))
    return notPerformed('authorization_expired', 'The authorization has ended.');
  return endedElsewhere(authorization);
}

/** A refusal unless an authorization can do something. */
export function unable({ behaviour }: Entry, ability: Ability): Effect | undefined {
  if (isAble(behaviour as BehaviourName, ability)) return undefined;
  return notPerformed('not_supported', 'This authorization cannot do that.');
}
