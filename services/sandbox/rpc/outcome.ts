import { randomUUID } from 'node:crypto';
import { resultOf as formOf, type KeptCard, type ResultInit } from '../../../platform/adapter/entry.ts';
import { reuseRefusal } from '../../../platform/adapter/identifier.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { behaviourOf, type Effect, EXPECTED_WITHIN_MS, GUARANTEE_MS, HOLD_PERIOD_MS, isAble } from '../behaviour.ts';
import { type Ending, type Intent, NO_ENDING } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { holdBack, perform } from './perform.ts';

/** What the caller is answered, and when; no result = no answer. */
export interface Outcome {
  readonly result?: ResultInit;
  readonly delayMs?: number | undefined;
}

/**
 * What an identifier's earlier use means for a request: the recorded answer when it asks the same, a refusal
 * `fenced` or `identifier_reused`, or undefined when the identifier is new.
 */
export function recall(
  books: Books,
  intent: Intent,
  show: (requestId: string) => ResultInit = (requestId) => resultOf(books.entries.get(requestId)),
): Outcome | undefined {
  const entry = books.entries.find(intent.requestId);
  return entry && { result: reuseRefusal(entry, intent) ?? show(intent.requestId) };
}

/** How an operation is to end. */
export interface Conclusion {
  readonly effect: Effect;
  readonly nowMs: number;
  /** Absent when no card is involved. */
  readonly card?: KeptCard & Pick<Ending, 'behaviour'>;
  /** The customer confirmed the payment at its bank. */
  readonly authenticated?: boolean;
}

/** Ends a new identifier: does it and writes it down, unless the request is to be lost before it acted. */
export function conclude(books: Books, intent: Intent, conclusion: Conclusion): Outcome {
  const { silence } = conclusion.effect;
  if (silence === 'before') return {};
  const ending = carryOut(books, intent, conclusion);
  books.entries.insert(intent, ending);
  if (silence === 'after') return {};
  return {
    result: resultOf({ ...ending, kind: intent.kind, requestId: intent.requestId }),
    delayMs: behaviourOf(ending.behaviour).delayMs,
  };
}

/**
 * Does what an approved operation is for, holds back what an accepted one takes later, and returns the ending to store
 * in its entry.
 */
export function carryOut(books: Books, intent: Intent, conclusion: Conclusion): Ending {
  const { effect, nowMs, card, authenticated = false } = conclusion;
  const { kind, requestId } = intent;
  const behaviour = card?.behaviour ?? '';
  const ending: Ending = { ...NO_ENDING, ...(kind !== 'void' && card && shownOf(card)), behaviour, actedAtMs: nowMs };
  if (effect.endsAfterMs !== undefined) {
    books.events.insert('operationSettled', requestId, nowMs + effect.endsAfterMs);
    const pending = holdBack(books, { ...intent, behaviour });
    return { ...ending, answer: Answer.ACCEPTED, expectedByMs: nowMs + EXPECTED_WITHIN_MS, pending };
  }
  const { answer, errorCode, errorMessage, declineCode } = effect;
  if (answer !== Answer.APPROVED) return { ...ending, answer, errorCode, errorMessage, declineCode };
  const movesMoney = kind === 'capture' || kind === 'refund' || kind === 'credit';
  const expiresAtMs = endOf(kind, behaviour, nowMs);
  return {
    ...ending,
    answer,
    threeDSecure: authenticated ? 'authenticated' : '',
    reference: `sbx_${random()}`,
    networkTransactionId: kind === 'authorization' || kind === 'checkout' ? `ntx_${random()}` : '',
    bankReference: movesMoney ? `BNK${random().toUpperCase()}` : '',
    expiresAtMs,
    voided: perform(books, { ...intent, behaviour, expiresAtMs }, nowMs),
  };
}

/** 16 hexadecimal digits. randomUUID() has random bytes in stock, so it costs much less than randomBytes(). */
const random = () => randomUUID().slice(19).replace('-', '');

function shownOf({ cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear, behaviour }: Required<Conclusion>['card']) {
  const funding = behaviourOf(behaviour).funding ?? 'credit';
  return { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear, funding };
}

/** When the reservation ends that an operation of a kind makes or prolongs; 0 = it does neither. */
function endOf(kind: Intent['kind'], behaviour: Ending['behaviour'], nowMs: number): number {
  if (kind === 'extension') return nowMs + HOLD_PERIOD_MS;
  if (kind !== 'authorization' && kind !== 'checkout') return 0;
  return nowMs + (behaviourOf(behaviour).expiresAfterMs ?? HOLD_PERIOD_MS);
}

/** The contract's form of how an entry ended. */
export function resultOf(
  entry: Ending & Pick<Intent, 'kind' | 'requestId'>,
  page?: { readonly url: string; readonly expiresAt: Date },
): ResultInit {
  const { behaviour, actedAtMs, expiresAtMs, expectedByMs, voided } = entry;
  const guaranteeMs = behaviourOf(behaviour).guaranteedForMs ?? GUARANTEE_MS;
  return formOf({
    ...entry,
    actedAt: new Date(actedAtMs),
    expiresAt: expiresAtMs > 0 ? new Date(expiresAtMs) : null,
    guaranteedUntil: expiresAtMs > 0 ? new Date(Math.min(expiresAtMs, actedAtMs + guaranteeMs)) : null,
    expectedBy: new Date(expectedByMs),
    released: voided,
    page,
    capabilities: {
      severalCaptures: isAble(behaviour, 'severalCaptures'),
      increments: isAble(behaviour, 'increments'),
      extension: isAble(behaviour, 'extension'),
      refunds: isAble(behaviour, 'refunds'),
      partialRelease: isAble(behaviour, 'partialRelease'),
    },
  });
}
