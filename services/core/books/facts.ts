import assert from 'node:assert/strict';
import type { SentKind } from '../domain/kinds.ts';
import type { Query } from '../storage/database.ts';
import type { HoldRow, WrittenHold } from '../storage/hold/hold-row.ts';
import type { HoldInput } from '../storage/hold/insert-holds.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { isImported } from '../storage/imported/import-marks.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import type { SubmissionInput } from '../storage/submission/store-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';

/** The placing of a hold, as it is stored. Without a tokenId it is a checkout, whose page is known if its address is. */
export type HoldFacts = HoldInput &
  Pick<Partial<HoldRow>, 'checkoutUrlCiphertext'> & {
    readonly kind: 'HOLD';
    /** The row's, as it is known here. */
    readonly version?: string | undefined;
  };

/** A submission, as it is stored, with what it is on. */
export type SubmissionFacts = SubmissionInput & {
  readonly hold?: WrittenHold | undefined;
  /** The RENEWAL whose authorization it is on; undefined = it is on the placing of its hold. */
  readonly authorization?: SubmissionRow | undefined;
  /** Of a refund: its capture. */
  readonly capture?: SubmissionRow | undefined;
};

/** The fields that sending and settling depend on; they never change. */
export type Facts = HoldFacts | SubmissionFacts;

/** Returns whether a customer enters the card on a page that the processor hosts. */
export function isCheckout(facts: Facts): facts is HoldFacts {
  return facts.kind === 'HOLD' && facts.tokenId == null;
}

/** Reads the facts of a stored operation. */
export async function factsOf(query: Query, kind: SentKind, requestId: string): Promise<Facts> {
  const imported = await isImported(query, requestId, 'OPERATION');
  if (kind === 'HOLD') {
    const hold = await findHold(query, requestId);
    assert(hold, 'a hold that is settled was stored');
    return { ...hold, kind, imported };
  }
  const submission = await findSubmission(query, requestId);
  assert(submission, 'a submission that is settled was stored');
  if (submission.holdRequestId == null) return { ...submission, imported };
  const { holdRequestId, captureRequestId, authorizationId } = submission;
  const capture = captureRequestId == null ? undefined : await findSubmission(query, captureRequestId);
  const authorization = authorizationId == null ? undefined : await findSubmission(query, authorizationId);
  return { ...submission, imported, capture, authorization, hold: await findHold(query, holdRequestId) };
}
