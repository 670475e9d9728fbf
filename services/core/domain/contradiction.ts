/** Statements of a processor that differ from our books, from a told result, or from what our books expect. */

/**
 * - RESULT: another result than the operation has.
 * - AMOUNT: done for another amount than was asked for.
 * - AMOUNT_RELEASED: a void or capture gave back another amount than was left.
 * - AMOUNT_ENDED: an authorization ended with another amount than was left.
 * - FOREIGN_CAPTURE: somebody else charged the authorization.
 * - EVENT_REFUSED: an event that cannot be booked, and never will be as it is.
 * - EVENT_ID_REUSED: two events under one name, so one of them is lost.
 */
export const CONTRADICTION_KINDS = [
  'RESULT',
  'AMOUNT',
  'AMOUNT_RELEASED',
  'AMOUNT_ENDED',
  'FOREIGN_CAPTURE',
  'EVENT_REFUSED',
  'EVENT_ID_REUSED',
] as const;
export type ContradictionKind = (typeof CONTRADICTION_KINDS)[number];

/** Both sides of it. Amounts are minor units. */
export interface Contradiction {
  readonly kind: ContradictionKind;
  readonly told: string;
  readonly kept: string;
  readonly toldAmount?: bigint | undefined;
  readonly keptAmount?: bigint | undefined;
  /** The processor's reference of the statement. */
  readonly reference?: string | undefined;
  /** Why the hold is frozen from now on; absent = it is not. */
  readonly freezes?: FrozenBecause | undefined;
}

/** The way core learned of it: by the answer to its call, by an inquiry, or by an event. */
export interface Told {
  readonly source: 'ANSWER' | 'INQUIRY' | 'EVENT';
  readonly eventId?: string | undefined;
}

export const BY_ANSWER: Told = { source: 'ANSWER' };
export const BY_INQUIRY: Told = { source: 'INQUIRY' };

/**
 * Why a hold is frozen, for its merchant. UNKNOWN_CHARGE = something of it may have been charged that its books do not
 * have.
 */
export type FrozenBecause = 'UNKNOWN_CHARGE' | 'RESULT_CONTRADICTED' | 'AMOUNT_DIFFERS';

/** The fields about freezing; null or absent = not frozen, or frozen by a release that did not keep the reason. */
export interface Freezing {
  readonly frozen: boolean;
  readonly frozenBecause?: FrozenBecause | null | undefined;
}

/**
 * Returns whether a hold waits for an operator before it ends: its remaining amount is in doubt, so nobody is told that
 * it was given back. When only a result is in doubt, the remaining amount is known, and the hold ends like any other.
 */
export function waitsForOperator({ frozen, frozenBecause }: Freezing): boolean {
  return frozen && frozenBecause != null && frozenBecause !== 'RESULT_CONTRADICTED';
}

/** Why a hold is frozen; undefined = it is not. */
export function frozenBecauseOf({ frozen, frozenBecause }: Freezing): FrozenBecause | undefined {
  return frozen ? (frozenBecause ?? 'RESULT_CONTRADICTED') : undefined;
}

/** The remaining amount of an authorization by our books, minor units: operations in flight may be done already. */
export interface Left {
  readonly least: bigint;
  readonly most: bigint;
}

/**
 * Compares an amount that a processor says with what our books expect: the one rule for every amount of an answer or an
 * event. Undefined = it is as expected, or not said.
 */
export function compareAmount(said: bigint | null | undefined, { least, most }: Left): 'LESS' | 'MORE' | undefined {
  if (said == null || (said >= least && said <= most)) return undefined;
  return said < least ? 'LESS' : 'MORE';
}

/** The contradiction of an amount given back. The missing part may have been charged. */
export function givenBackOtherwise(
  kind: 'AMOUNT_RELEASED' | 'AMOUNT_ENDED',
  said: bigint | null | undefined,
  left: Left,
): Contradiction | undefined {
  const how = compareAmount(said, left);
  if (!how) return undefined;
  return {
    kind,
    told: kind,
    kept: 'REMAINING',
    toldAmount: said ?? undefined,
    keptAmount: left.least,
    freezes: how === 'LESS' ? 'UNKNOWN_CHARGE' : 'AMOUNT_DIFFERS',
  };
}
