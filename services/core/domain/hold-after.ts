import { type HoldBooks, type HoldPhase, type HoldStatus, shownPhase } from './hold-rules.ts';

/**
 * A hold as a result left it: kept with the result, and said in its notification. Amounts in minor units. These do not
 * change any more, whatever happens to the hold later.
 */
export interface HoldAfter {
  readonly statusAfter: HoldStatus;
  readonly phaseAfter: PhaseAfter;
  readonly amountAfter: bigint;
  readonly capturedAfter: bigint;
  readonly remainingAfter: bigint;
  readonly releasedAfter: bigint;
  readonly refundedAfter: bigint;
  readonly reversedAfter: bigint;
  /** Null or absent = it is not placed. */
  readonly expiresAtAfter?: Date | null | undefined;
  /** Null or absent = the processor has not said. */
  readonly guaranteedUntilAfter?: Date | null | undefined;
}

/** The phase as merchants see it. They do not see that operators review a hold: its outcome is unknown. */
export type PhaseAfter = Exclude<ReturnType<typeof shownPhase>, 'NEEDS_REVIEW'>;

/** When a hold ends, and how long it is guaranteed; absent = as before, null = nobody has said. */
interface Times {
  readonly expiresAt?: Date | null | undefined;
  readonly guaranteedUntil?: Date | null | undefined;
}

/** Returns what a result leaves of a hold: `books` and `times` are those after it. */
export function holdAfter(
  hold: HoldBooks & Times & { readonly phase: HoldPhase; readonly tokenId?: string | null | undefined },
  books: HoldBooks = hold,
  times: Times = hold,
): HoldAfter {
  const phase = shownPhase({ phase: hold.phase, tokenId: hold.tokenId, status: books.status });
  return {
    statusAfter: books.status,
    phaseAfter: phase === 'NEEDS_REVIEW' ? 'UNKNOWN' : phase,
    amountAfter: books.amount,
    capturedAfter: books.captured,
    remainingAfter: books.remaining,
    releasedAfter: books.released,
    refundedAfter: books.refunded,
    reversedAfter: books.reversed,
    expiresAtAfter: times.expiresAt ?? hold.expiresAt,
    guaranteedUntilAfter: times.guaranteedUntil === undefined ? hold.guaranteedUntil : times.guaranteedUntil,
  };
}
