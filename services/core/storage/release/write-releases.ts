import type { AGAIN } from '../../../../platform/gather.ts';
import type { Query } from '../database.ts';
import {
  type Booking,
  booksAsText,
  type Settled,
  type SubmissionResult,
  settlementOnHold,
  settleSubmissions,
} from '../operation/settle-submissions.ts';
import { type ReservationInput, reservation, type Stored, storeSubmissions } from '../operation/store-submissions.ts';
import type { ReleaseRow } from './release.ts';

/** A release of what remains of a hold; its amount is 0 for a hold that was never placed. */
export interface ReleaseInput extends ReservationInput {
  readonly reason: ReleaseRow['reason'];
  /** The processor ended the authorization by itself, and said what it gave back, minor units. */
  readonly reported: boolean;
  readonly amountReleased?: string | undefined;
  readonly processorReference?: string | undefined;
}

/** Reserves releases, each of another hold. */
export function reserveReleases(query: Query, releases: readonly ReleaseInput[]): Promise<(Stored | typeof AGAIN)[]> {
  return storeSubmissions(query, RESERVE_RELEASES, releases);
}

const RESERVE_RELEASES = reservation('reserve-releases', 'release', {
  input: 'reason text, reported boolean, "amountReleased" bigint, "processorReference" text',
  columns: 'state, reason, reported, amount_released, processor_reference',
  values: `'PENDING', reason, reported, "amountReleased", "processorReference"`,
  room: `i.reason = 'LATE' or (not h.closing and h.in_flight = 0 and h.remaining >= i.amount
        and h.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED'))`,
});

/** How a release ended. */
export interface ReleaseResult extends Omit<SubmissionResult, 'operation'>, Booking {
  /** What the processor says that it gave back, minor units. */
  readonly amountReleased?: bigint | undefined;
  /** True when the hold was never placed and is now given up. */
  readonly fails: boolean;
  /** True when the processor gave back something else than what our books had left. */
  readonly freezes: boolean;
  /** Whether the hold is frozen then. */
  readonly frozenAfter: boolean;
  /** Absent when nothing is to be told: a void of a late authorization. */
  readonly operation?: SubmissionResult['operation'] | undefined;
}

/** Ends releases, each of another hold. */
export function settleReleases(query: Query, results: readonly ReleaseResult[]): Promise<Settled> {
  return settleSubmissions(query, SETTLE_RELEASES, booksAsText(results));
}

const SETTLE_RELEASES = settlementOnHold('settle-releases', 'release', {
  input: '"amountReleased" bigint, fails boolean, freezes boolean, "frozenAfter" boolean',
  set: `state = case when i.ok then 'OK' else 'KO' end, final_at = i.at, amount_released = i."amountReleased",
      captured_after = (i.books->>'captured')::bigint, remaining_after = (i.books->>'remaining')::bigint,
      released_after = (i.books->>'released')::bigint, reversed_after = (i.books->>'reversed')::bigint,
      status_after = i.books->>'status', frozen_after = i."frozenAfter"`,
  setHold: `,
      frozen = h.frozen or c.freezes,
      phase = case when c.fails then 'FAILED' else h.phase end,
      processor_code = case when c.fails then c."processorCode" else h.processor_code end,
      processor_message = case when c.fails then c."processorMessage" else h.processor_message end,
      inquire_at = case when c.fails then null else h.inquire_at end`,
});
