import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import {
  correctCapture,
  correctIncrement,
  correctPartialRelease,
  correctRefund,
  isCorrectable,
  movedBy,
} from '../domain/correction-rules.ts';
import { holdAfter } from '../domain/hold-after.ts';
import type { HoldBooks } from '../domain/hold-rules.ts';
import type { FinalOutcome } from '../domain/outcome.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { Database, Query } from '../storage/database.ts';
import { type ReadHold, readHolds } from '../storage/hold/read-holds.ts';
import { type Amendment, amendEnded } from '../storage/submission/amend-ended.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import { subjectOfOct } from './oct-books.ts';
import { resultOf, subjectOn } from './operation-result.ts';
import { NOTHING_SETTLED, type Settled, settledOf } from './settle-gathered.ts';

/** A different result of an operation than the merchant was told. */
export interface Correcting {
  /** Names the correction. */
  readonly requestId: string;
  readonly correctsRequestId: string;
  /** The hold that it is on; absent of an OCT. */
  readonly holdRequestId?: string | undefined;
  readonly ok: boolean;
  /** The person who corrects it: an actor of the audit log. */
  readonly by: string;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** The result of a correction: booked, or the reason against it; `hold` is then as it was judged. */
export interface Corrected {
  readonly became: 'CORRECTED' | RefusalCode;
  readonly hold?: ReadHold | undefined;
}

/**
 * Books that an operation ended otherwise than was told, as an operation of its own: reads, judges, and writes if
 * nothing of it has changed since. The books of the hold follow, and it is not frozen any more.
 */
export async function correct(
  { query }: Database,
  correcting: Correcting,
): Promise<{ readonly corrected: Corrected; readonly settled: Settled } | typeof AGAIN> {
  const { requestId, correctsRequestId, ok, by, at, traceParent } = correcting;
  const [hold] = correcting.holdRequestId === undefined ? [] : await readHolds(query, [correcting.holdRequestId]);
  const row = await findSubmission(query, correctsRequestId);
  assert(row, 'what is corrected was stored');
  const judged = await judge(query, row, hold, ok);
  if (typeof judged === 'string') return { corrected: { became: judged, hold }, settled: NOTHING_SETTLED };
  const moved = movedBy(row);
  const common = hold
    ? subjectOn(hold, holdAfter(hold, { ...hold, ...judged }), moved)
    : { ...subjectOfOct(row), amount: moved };
  const subject = { ...common, captureRequestId: row.captureRequestId, correctsRequestId };
  const outcome = ok ? DONE : NOT_DONE;
  const operation = resultOf(requestId, 'CORRECTION', subject, { outcome, at, traceParent });
  const done = await amendEnded(query, {
    ...judged,
    ...(hold && { holdRequestId: hold.requestId, version: hold.version }),
    correctedBy: by,
    requestId,
    subjectRequestId: correctsRequestId,
    state: ok ? 'OK' : 'KO',
    stateBefore: ok ? 'KO' : 'OK',
    returnedBefore: row.amountReturned,
    at: at.toISOString(),
    operation,
  });
  if (!done.locked.has(requestId)) return AGAIN;
  return { corrected: { became: 'CORRECTED', hold }, settled: settledOf(done, requestId, operation) };
}

const DONE: FinalOutcome = { answer: 'APPROVED', reference: '', bankReference: '' };
const NOT_DONE: FinalOutcome = {
  answer: 'NOT_PERFORMED',
  code: 'corrected_by_operator',
  message: 'The processor says that it was not done.',
};

type Change = Partial<HoldBooks & Pick<Amendment, 'captureRequestId' | 'refundedMore' | 'amountReleased'>>;

/** Corrects a capture of an authorization that a renewal has replaced since. The capture keeps what it left to its void. */
function correctReplaced(hold: ReadHold, capture: SubmissionRow, ok: boolean): RefusalCode | Change {
  const amountLeft = capture.state === 'KO' && capture.firstState != null ? (capture.amountReleased ?? 0n) : 0n;
  const books = correctCapture(hold, { ...capture, isReplaced: true, amountLeft }, ok);
  if (typeof books === 'string') return books;
  return { ...books, amountReleased: (capture.amountReleased ?? 0n) + (ok ? -capture.amount : capture.amount) };
}

/** Returns the changes of a correction, or the reason against it. */
async function judge(
  query: Query,
  row: SubmissionRow,
  hold: ReadHold | undefined,
  ok: boolean,
): Promise<RefusalCode | Change> {
  if (!isCorrectable(row.kind)) return 'NOT_CORRECTABLE';
  if (row.state !== 'OK' && row.state !== 'KO') return 'OPERATION_NOT_FINAL';
  if (ok === (row.state === 'OK')) return 'OUTCOME_UNCHANGED';
  if (row.kind === 'OCT') return movedBy(row) > 0n ? {} : 'NOT_CORRECTABLE';
  assert(hold, 'all but an OCT has a hold');
  const isReplaced = (row.authorizationId ?? null) !== (hold.authorizationId ?? null);
  if (row.kind === 'CAPTURE') return isReplaced ? correctReplaced(hold, row, ok) : correctCapture(hold, row, ok);
  if (row.kind === 'PARTIAL_RELEASE') return correctPartialRelease(hold, { ...row, isReplaced }, ok);
  if (row.kind === 'INCREMENT') return correctIncrement(hold, { ...row, isReplaced }, ok);
  const capture = await findSubmission(query, row.captureRequestId ?? '');
  assert(capture, 'a refund has a capture');
  const books = correctRefund(hold, row, capture, ok);
  if (typeof books === 'string') return books;
  const moved = movedBy(row);
  return { ...books, captureRequestId: capture.requestId, refundedMore: ok ? moved : -moved };
}
