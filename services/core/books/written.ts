/** Rows as the statement that settled them has written them, made in memory: an answer reads nothing back. */
import { type Card, isOk } from '../domain/outcome.ts';
import type { WrittenHold } from '../storage/hold/hold-row.ts';
import type { KnownHold } from '../storage/hold/read-holds.ts';
import type { HoldEnd } from '../storage/hold/settle-holds.ts';
import type { NewRow } from '../storage/input-columns.ts';
import type { SubmissionEnd } from '../storage/submission/settle-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { HoldFacts, SubmissionFacts } from './facts.ts';
import type { Ending } from './operation-result.ts';

/** A row whose null fields may be absent. */
export type WrittenSubmission = NewRow<SubmissionRow, keyof SubmissionRow>;

/** A submission that has ended; `before` is its hold, right before it. */
export function writtenSubmission(
  facts: SubmissionFacts,
  end: SubmissionEnd,
  { at }: Ending,
  before: KnownHold | undefined,
): WrittenSubmission {
  return {
    ...UNTOUCHED_SUBMISSION,
    ...(facts.kind === 'CAPTURE' && UNTOUCHED_CAPTURE),
    ...facts,
    ...cardColumnsOf(end.card),
    state: end.ok ? 'OK' : 'KO',
    finalAt: at,
    inquireAt: null,
    processorReference: end.processorReference,
    bankReference: end.bankReference,
    processorCode: end.processorCode,
    processorMessage: end.processorMessage,
    amountReleased: end.amountReleased,
    statusAfter: end.status,
    amountAfter: end.amount,
    capturedAfter: end.captured,
    remainingAfter: end.remaining,
    releasedAfter: end.released,
    reversedAfter: end.reversed,
    refundedAfter: end.refunded,
    frozenAfter: before && (before.frozen || end.contradiction !== undefined),
    expiresAtAfter: end.expiresAt === undefined ? before?.expiresAt : new Date(end.expiresAt),
    guaranteedUntilAfter: end.guaranteedUntil === undefined ? before?.guaranteedUntil : new Date(end.guaranteedUntil),
  };
}

const UNTOUCHED_SUBMISSION = { inquiryCount: 0, amountReturned: 0n } as const;
const UNTOUCHED_CAPTURE = { amountReversed: 0n, amountRefunded: 0n, amountRefunding: 0n } as const;

/** A hold whose placing has ended. */
export function writtenHold(facts: HoldFacts, end: HoldEnd, { outcome, at }: Ending): WrittenHold {
  const ok = isOk(outcome);
  return {
    ...UNTOUCHED_HOLD,
    ...facts,
    ...cardColumnsOf(end.card),
    amountAsked: facts.amount,
    releasesOld: facts.renews != null,
    status: ok ? 'IN_PROGRESS' : 'FAILED',
    phase: ok ? 'AUTHORIZED' : 'FAILED',
    remaining: ok ? facts.amount : 0n,
    inquireAt: null,
    placedAt: ok ? at : null,
    closedAt: ok ? null : at,
    expiresAt: end.expiresAt === undefined ? null : new Date(end.expiresAt),
    ...guaranteed(end.guaranteedUntil),
    generatedTokenId: end.generatedTokenId,
    networkTransactionId: end.networkTransactionId,
    capabilities: end.capabilities,
    processorReference: end.processorReference,
    processorCode: end.processorCode,
    processorMessage: end.processorMessage,
  };
}

function guaranteed(until: string | undefined) {
  const guaranteedUntil = until === undefined ? null : new Date(until);
  return { guaranteedUntil, firstGuaranteedUntil: guaranteedUntil };
}

const UNTOUCHED_HOLD = {
  inquiryCount: 0,
  captured: 0n,
  inFlight: 0n,
  released: 0n,
  reversed: 0n,
  refunded: 0n,
  refunding: 0n,
  closing: false,
  frozen: false,
  autoCaptureCount: 0,
  notificationCount: 0,
} as const;

/** The columns of a card, as cardOf() reads them. */
function cardColumnsOf(card: Card | undefined) {
  return {
    cardBrand: card?.brand,
    cardLast4: card?.last4,
    cardExpiryMonth: card?.expiryMonth,
    cardExpiryYear: card?.expiryYear,
    cardFunding: card?.funding,
    cardThreeDSecure: card?.threeDSecure,
    cardDeclineCode: card?.declineCode,
  };
}
