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
import { settleOrPutOff } from './put-off.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;
/**
 * Recovery: inquires about every submission whose outcome is open and due, and settles what the processor answers. Only an answer or
 * a fenced "never seen it" ends one. What cannot be settled, for whatever reason, is looked at again at growing intervals and then comes
 * to review.
 */
export function inquiries(recovery: Asker, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueSubmission> {
  return {
    name: 'inquire',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit) => takeDue(recovery, limit, at),
    handle: (due) => settleOrPutOff(recovery, due, look),
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

async function look(recovery: Asker, due: DueSubmission): Promise<'LATER' | Date | undefined> {
  const { table, requestId } = due;
  const next = (await KINDS[table].recover?.(recovery, due)) ?? 'INQUIRE';
  if (next === 'DONE') return undefined;
  if (next !== 'INQUIRE') return next;
  const processor = recovery.processors.of(due);
  const submission = await findSubmission(recovery.database.query, requestId);
  const answer = await processor.inquire(submission ?? due);
  if (answer.found === 'DONE' || answer.found === 'NEVER_SEEN') {
    const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
    return (await settleLate(recovery, table, requestId, outcome)) ? undefined : 'LATER';
  }
  const said = answer.found === 'AT_WORK' ? answer.expectedBy : undefined;
  const expectedBy = said && (await processor.acceptedUntil(table, due.createdAt, said));
  // What the processor takes its time over is no trouble: it needs no review before its time is over.
  const nextAt = nextLook(recovery.clock(), expectedBy ?? due.expectedBy ?? undefined);
  if (!nextAt) return 'LATER';
  await recovery.books.postponeInquiry(table, requestId, nextAt, expectedBy);
  return undefined;
}
