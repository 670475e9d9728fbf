import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import {
  Answer,
  type Capabilities as CapabilitiesMessage,
  type Card as CardMessage,
  type Result,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Capabilities } from '../domain/hold-rules.ts';
import {
  type Accepted,
  type Card,
  type FinalOutcome,
  IDENTIFIER_REUSED,
  type NotPerformed,
  type Outcome,
} from '../domain/outcome.ts';

/** Only an explicit answer is an outcome. Any other failure leaves it unknown. */
export async function outcomeOf(call: Promise<{ result?: Result | undefined }>): Promise<Outcome> {
  try {
    const { result } = await call;
    if (result?.answer === Answer.ACCEPTED) return accepted(result);
    return finalOutcome(result) ?? { answer: 'UNKNOWN' };
  } catch (error) {
    return (error as Partial<ServiceError>).code === status.ALREADY_EXISTS ? REUSED : { answer: 'UNKNOWN' };
  }
}

/** The contract allows a status instead of the answer; nothing was done. */
export const REUSED: NotPerformed = {
  answer: 'NOT_PERFORMED',
  code: IDENTIFIER_REUSED,
  message: 'The identifier was used for something else.',
};

/** Reads a final result of the contract; undefined when it says nothing, or is not final. */
export function finalOutcome(result: Result | undefined): FinalOutcome | undefined {
  if (!result) return undefined;
  const card = result.card && cardOf(result.card);
  const refusal = { code: result.errorCode, message: result.errorMessage, card };
  if (result.answer === Answer.DECLINED) return { answer: 'DECLINED', ...refusal };
  if (result.answer === Answer.NOT_PERFORMED) return { answer: 'NOT_PERFORMED', ...refusal };
  if (result.answer !== Answer.APPROVED) return undefined;
  return {
    answer: 'APPROVED',
    reference: result.reference,
    bankReference: result.bankReference,
    expiresAt: result.expiresAt && timestampDate(result.expiresAt),
    guaranteedUntil: result.guaranteedUntil && timestampDate(result.guaranteedUntil),
    card,
    generatedTokenId: result.generatedTokenId || undefined,
    networkTransactionId: result.networkTransactionId || undefined,
    capabilities: result.capabilities && capabilitiesOf(result.capabilities),
    amountReleased: result.amountReleased,
    amount: result.amount,
  };
}

/** Reads a result that is not final. */
export function accepted({ expectedBy, nextAction }: Result): Accepted {
  const page = nextAction && { url: nextAction.url, expiresAt: dateOf(nextAction.expiresAt) };
  return { answer: 'ACCEPTED', expectedBy: dateOf(expectedBy), page };
}

function dateOf(time: Timestamp | undefined): Date | undefined {
  return time && timestampDate(time);
}

function cardOf(card: CardMessage): Card {
  const { brand, last4, expiryMonth, expiryYear, funding, threeDSecure, declineCode } = card;
  return {
    brand,
    last4,
    expiryMonth,
    expiryYear,
    ...(funding && { funding }),
    ...(threeDSecure && { threeDSecure }),
    ...(declineCode && { declineCode }),
  };
}

function capabilitiesOf(message: CapabilitiesMessage): Capabilities {
  const { severalCaptures, increments, extension, refunds, partialRelease } = message;
  return { severalCaptures, increments, extension, refunds, partialRelease };
}
