import { randomBytes } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Answer, type ResultSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type BehaviourName, behaviourOf, type Effect, HOLD_PERIOD_MS } from '../behaviour.ts';
import { type Ending, type Entry, type Intent, type KeptCard, NO_ENDING } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';

/** A result as the contract carries it. */
export type ResultInit = MessageInitShape<typeof ResultSchema>;

/** What the caller gets to hear: an answer, at once or later, or nothing at all. */
export type Outcome =
  | { readonly heard: true; readonly result: ResultInit; readonly delayMs: number }
  | { readonly heard: false };

/** A refusal that leaves no trace, for identifiers that cannot be used (again). */
export function refusal(errorCode: string, errorMessage: string): Outcome {
  const result = { answer: Answer.NOT_PERFORMED, errorCode, errorMessage };
  return { heard: true, result, delayMs: 0 };
}

/** How an operation is to end. */
export interface Conclusion {
  readonly effect: Effect;
  readonly nowMs: number;
  readonly behaviour?: BehaviourName | undefined;
  readonly card?: KeptCard | undefined;
}

/** Ends a new identifier: writes it down, unless the request is to be lost before it acted. */
export function conclude(books: Books, intent: Intent, conclusion: Conclusion, voided = 0): Outcome {
  const { effect } = conclusion;
  if (effect.silence === 'before') return { heard: false };
  const ending = endingOf(intent, conclusion);
  books.entries.insert(intent, ending, voided);
  if (effect.silence === 'after') return { heard: false };
  const delayMs = (conclusion.behaviour && behaviourOf(conclusion.behaviour).delayMs) || 0;
  return { heard: true, result: resultOf({ ...intent, ...ending }), delayMs };
}

/** The ending's fields: references when approved, the bank's own where money moves. */
export function endingOf(intent: Pick<Intent, 'kind'>, conclusion: Conclusion): Ending {
  const { effect, nowMs, behaviour = '', card = {} } = conclusion;
  const approved = effect.answer === Answer.APPROVED;
  const reserves = intent.kind === 'authorization' || intent.kind === 'checkout';
  const movesMoney = intent.kind === 'capture' || intent.kind === 'credit';
  return {
    ...NO_ENDING,
    ...card,
    behaviour,
    answer: effect.answer,
    errorCode: effect.errorCode,
    errorMessage: effect.errorMessage,
    reference: approved ? `sbx_${randomBytes(12).toString('base64url')}` : '',
    bankReference: approved && movesMoney ? `BNK${randomBytes(8).toString('hex').toUpperCase()}` : '',
    expiresAtMs:
      approved && reserves ? nowMs + ((behaviour && behaviourOf(behaviour).expiresAfterMs) || HOLD_PERIOD_MS) : 0,
    actedAtMs: nowMs,
  };
}

/** The contract's form of how an entry ended. */
export function resultOf(entry: Ending & Pick<Entry, 'kind'>): ResultInit {
  return {
    answer: entry.answer,
    reference: entry.reference,
    bankReference: entry.bankReference,
    errorCode: entry.errorCode,
    errorMessage: entry.errorMessage,
    generatedTokenId: entry.generatedTokenId,
    actedAt: timestampFromMs(entry.actedAtMs),
    ...(entry.expiresAtMs > 0 && { expiresAt: timestampFromMs(entry.expiresAtMs) }),
    ...(entry.cardLast4 !== '' && {
      card: {
        brand: entry.cardBrand,
        last4: entry.cardLast4,
        expiryMonth: entry.cardExpiryMonth,
        expiryYear: entry.cardExpiryYear,
      },
    }),
  };
}
