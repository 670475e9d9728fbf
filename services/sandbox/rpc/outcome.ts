import { randomBytes } from 'node:crypto';
import { resultOf as formOf, type KeptCard, type ResultInit } from '../../../platform/adapter/entry.ts';
import { reuseRefusal } from '../../../platform/adapter/identifier.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import {
  type BehaviourName,
  behaviourOf,
  type Effect,
  EXPECTED_WITHIN_MS,
  HOLD_PERIOD_MS,
  isAble,
} from '../behaviour.ts';
import { type Ending, type Entry, type Intent, NO_ENDING } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { holdBack, perform } from './perform.ts';

/** What the caller gets to hear: an answer, at once or later, or nothing at all. */
export type Outcome =
  | { readonly heard: true; readonly result: ResultInit; readonly delayMs: number }
  | { readonly heard: false };

/**
 * What an identifier's earlier use means for a request: the recorded answer when it asks the same, a refusal
 * `fenced` or `identifier_reused`, or undefined when the identifier is new.
 */
export function recall(books: Books, intent: Intent): Outcome | undefined {
  const entry = books.entries.find(intent.requestId);
  if (!entry) return undefined;
  return { heard: true, delayMs: 0, result: reuseRefusal(entry, intent) ?? resultOf(entry) };
}

/** How an operation is to end. */
export interface Conclusion {
  readonly effect: Effect;
  readonly nowMs: number;
  readonly behaviour?: BehaviourName | '';
  readonly card?: KeptCard;
  /** The customer confirmed the payment at its bank. */
  readonly authenticated?: boolean;
}

/** Ends a new identifier: writes it down and does it, unless the request is to be lost before it acted. */
export function conclude(books: Books, intent: Intent, conclusion: Conclusion): Outcome {
  const { effect, nowMs } = conclusion;
  const { requestId } = intent;
  if (effect.silence === 'before') return { heard: false };
  const ending = endingOf(intent, conclusion);
  books.entries.insert(intent, ending);
  let voided = 0;
  if (effect.endsAfterMs !== undefined) {
    holdBack(books, requestId);
    const occurredAtMs = nowMs + effect.endsAfterMs;
    books.events.insert({ eventId: `settled-${requestId}`, kind: 'operationSettled', requestId, occurredAtMs });
  } else if (effect.answer === Answer.APPROVED) {
    voided = perform(books, { ...intent, ...ending }, nowMs);
  }
  if (effect.silence === 'after') return { heard: false };
  const delayMs = behaviourOf(conclusion.behaviour ?? '').delayMs ?? 0;
  return { heard: true, result: resultOf({ ...ending, kind: intent.kind, voided }), delayMs };
}

/** The ending's fields: references when approved, the bank's own where money moves. */
export function endingOf({ kind }: Pick<Intent, 'kind'>, conclusion: Conclusion): Ending {
  const { effect, nowMs, behaviour = '', authenticated = false } = conclusion;
  const card = conclusion.card && {
    ...conclusion.card,
    funding: behaviourOf(behaviour).funding ?? 'credit',
    threeDSecure: authenticated ? 'authenticated' : '',
    declineCode: effect.declineCode ?? '',
  };
  if (effect.endsAfterMs !== undefined) {
    const expectedByMs = nowMs + EXPECTED_WITHIN_MS;
    return { ...NO_ENDING, ...card, behaviour, answer: Answer.ACCEPTED, expectedByMs, actedAtMs: nowMs };
  }
  const approved = effect.answer === Answer.APPROVED;
  const movesMoney = kind === 'capture' || kind === 'refund' || kind === 'credit';
  return {
    ...NO_ENDING,
    ...card,
    behaviour,
    answer: effect.answer,
    errorCode: effect.errorCode,
    errorMessage: effect.errorMessage,
    reference: approved ? `sbx_${randomBytes(12).toString('base64url')}` : '',
    bankReference: approved && movesMoney ? `BNK${randomBytes(8).toString('hex').toUpperCase()}` : '',
    expiresAtMs: approved ? endOf(kind, behaviour, nowMs) : 0,
    actedAtMs: nowMs,
  };
}

/** When the reservation ends that an operation of a kind makes or prolongs; 0 = it does neither. */
function endOf(kind: Intent['kind'], behaviour: BehaviourName | '', nowMs: number): number {
  if (kind === 'extension') return nowMs + HOLD_PERIOD_MS;
  if (kind !== 'authorization' && kind !== 'checkout') return 0;
  return nowMs + (behaviourOf(behaviour).expiresAfterMs ?? HOLD_PERIOD_MS);
}

/** The contract's form of how an entry ended. */
export function resultOf(entry: Ending & Pick<Entry, 'kind' | 'voided'>): ResultInit {
  const { behaviour, actedAtMs, expiresAtMs, expectedByMs, voided } = entry;
  return formOf({
    ...entry,
    actedAt: new Date(actedAtMs),
    expiresAt: expiresAtMs > 0 ? new Date(expiresAtMs) : null,
    expectedBy: new Date(expectedByMs),
    released: voided,
    capabilities: capabilitiesOf(behaviour),
  });
}

/** The card of an entry, or of whatever else keeps one. */
export function cardOf({ cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear }: KeptCard): KeptCard {
  return { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear };
}

function capabilitiesOf(behaviour: BehaviourName | '') {
  return {
    severalCaptures: isAble(behaviour, 'severalCaptures'),
    increments: isAble(behaviour, 'increments'),
    extension: isAble(behaviour, 'extension'),
    refunds: isAble(behaviour, 'refunds'),
  };
}
