import { NEVER_RECEIVED } from '../domain/operation.ts';
import { nextLook } from '../kinds/ask.ts';
import type { Asker } from '../kinds/kind.ts';
import { KINDS } from '../kinds/kinds.ts';
import { settleLate } from '../kinds/settle-late.ts';
import { callOverAt } from '../processor/processor.ts';
import { type Work, workOnce } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { findSubmission } from '../storage/operation/find-submission.ts';
import { SUBMISSION_TABLES } from '../storage/operation/submissions.ts';
import { type DueSubmission, takeDueSubmissions } from '../storage/operation/unsettled.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;
/** Pauses between inquiries, seconds; after the last one the operation goes to needs review. About a day in all. */
const PAUSES_S = [2, 5, 10, 30, 60, 300, 900, 3_600, 3_600, 3_600, 7_200, 14_400, 28_800, 28_800];

/**
 * Recovery: inquires about every submission whose outcome is open and due, and settles what the processor answers. Only an answer or
 * a fenced "never seen it" ends one.
 */
export function inquiries(recovery: Asker, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueSubmission> {
  return {
    name: 'inquire',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit) => takeDue(recovery, limit, at),
    handle: (due) => look(recovery, due),
  };
}

/** Inquires about what is due, once. Resolves with how many submissions that were. */
export function inquire(recovery: Asker): Promise<number> {
  return workOnce(inquiries(recovery));
}

async function takeDue(recovery: Asker, count: number, at: AtProcessor): Promise<DueSubmission[]> {
  const now = recovery.clock();
  const nextAt = callOverAt(recovery.processors, now);
  const limit = Math.ceil(count / SUBMISSION_TABLES.length);
  const { query } = recovery.database;
  const takes = SUBMISSION_TABLES.map((table) => takeDueSubmissions(query, table, { now, nextAt, limit }, at));
  return (await Promise.all(takes)).flat();
}

async function look(recovery: Asker, due: DueSubmission): Promise<void> {
  const { table, requestId } = due;
  const next = (await KINDS[table].recover?.(recovery, due)) ?? 'INQUIRE';
  if (next === 'DONE') return;
  if (next === 'LATER') return later(recovery, due);
  const submission = await findSubmission(recovery.database.query, requestId);
  const answer = await recovery.processors.of(due).inquire(submission ?? due);
  if (answer.found === 'DONE' || answer.found === 'NEVER_SEEN') {
    const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
    return (await settleLate(recovery, table, requestId, outcome)) ? undefined : later(recovery, due);
  }
  const expectedBy = answer.found === 'AT_WORK' ? answer.expectedBy : undefined;
  // What the processor takes its time over is no trouble: it needs no review before its time is over.
  const nextAt = nextLook(recovery.clock(), expectedBy ?? due.expectedBy ?? undefined);
  if (nextAt) return recovery.books.postponeInquiry(table, requestId, nextAt, expectedBy);
  return later(recovery, due);
}

async function later({ books, clock, log }: Asker, due: DueSubmission): Promise<void> {
  const { table, requestId, processor } = due;
  const pauseS = PAUSES_S[due.inquiryCount];
  if (pauseS !== undefined) {
    return books.postponeInquiry(table, requestId, new Date(clock().getTime() + pauseS * 1_000));
  }
  if (await books.markNeedsReview(table, requestId)) log.error('needs_review', { kind: table, requestId, processor });
}
