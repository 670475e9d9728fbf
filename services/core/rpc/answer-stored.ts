/** Answers about stored operations: always the first answer, whatever has happened since. */
import assert from 'node:assert/strict';
import { errorFields } from '../../../platform/log.ts';
import type { WrittenSubmission } from '../books/written.ts';
import { HoldfastError } from '../domain/refusal.ts';
import type { KnownHold } from '../storage/hold/read-holds.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { Core } from './core.ts';
import { keptRefusal } from './refuse.ts';

/** An operation that was stored before; replayed = it is found by its idempotency key. */
export interface First {
  readonly requestId: string;
  readonly replayed: boolean;
}

/** Throws a stored operation's refusal when it is KO, IDEMPOTENCY_IN_FLIGHT while its first call runs. */
export async function demandAnswerable(
  core: Core,
  first: First,
  row: Pick<SubmissionRow, 'state' | 'inquireAt' | 'inquiryCount' | 'processorCode' | 'processorMessage'> &
    Partial<Pick<SubmissionRow, 'kind'>>,
): Promise<void> {
  if (row.state === 'KO') throw await keptRefusal(core, first, row);
  // It started, and recovery has not looked at it yet.
  const isRunning = row.inquiryCount === 0 && row.inquireAt != null && row.inquireAt > core.clock();
  if (row.state !== 'PENDING' || !isRunning) return;
  const message = 'the first call has no result yet; repeat it';
  throw new HoldfastError('IDEMPOTENCY_IN_FLIGHT', message, { requestId: first.requestId, retryAfterS: 1 });
}

/** The answers of a call about its operation. */
export interface Answer<A> {
  /** When it is done. `before` is its hold right before, if that is known. */
  readonly present: (row: WrittenSubmission, before?: KnownHold) => A | Promise<A>;
  /** While its outcome is not known. */
  readonly unknown: (requestId: string) => A;
}

/** Returns the answer from the stored fields that never change, whatever was returned or corrected since. */
export function answerStored<A extends object>(core: Core, first: First, { present, unknown }: Answer<A>) {
  return answerKnown(core, first, unknown, async () => {
    const stored = await findSubmission(core.database.query, first.requestId);
    assert(stored, 'what is answered was stored');
    const row = asFirstEnded(stored);
    await demandAnswerable(core, first, row);
    return row.state === 'OK' ? present(row) : unknown(first.requestId);
  });
}

/** A submission as it was when it had ended for the first time. */
function asFirstEnded(row: SubmissionRow): SubmissionRow {
  const untouched = row.kind === 'CAPTURE' ? { amountReversed: 0n, amountRefunded: 0n, amountRefunding: 0n } : {};
  return { ...row, ...untouched, state: row.firstState ?? row.state, amountReturned: 0n };
}

/**
 * Returns the answer about a stored operation. Only a refusal is an error: after any other failure the processor may
 * have acted, and recovery inquires. The failure is logged, and the answer is an unknown outcome.
 */
export async function answerKnown<A extends object>(
  core: Core,
  { requestId, replayed }: First,
  unknown: (requestId: string) => A,
  answer: () => A | Promise<A>,
): Promise<A & { replayed?: boolean }> {
  try {
    return { ...(await answer()), replayed };
  } catch (error) {
    demandRefusal(core, requestId, error);
    return unknown(requestId);
  }
}

/** Throws a refusal; logs everything else. */
export function demandRefusal(core: Core, requestId: string, error: unknown): void {
  if (error instanceof HoldfastError) throw error;
  logNotStored(core, requestId, error);
}

/** Logs that the result of something that was stored could not be. */
export function logNotStored({ log }: Core, requestId: string, error: unknown): void {
  log.error('result_not_stored', { requestId, ...errorFields(error) });
}
