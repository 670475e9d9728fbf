import { NEVER_RECEIVED } from '../domain/outcome.ts';
import type { Sender } from '../kinds/facts.ts';
import { recover } from '../kinds/recover-submission.ts';
import { settleLate } from '../kinds/settle-late.ts';
import { nextLook } from '../kinds/settle-outcome.ts';
import { callOverAt } from '../processor/processor.ts';
import { type Work, workOnce } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import { type DueSubmission, takeDueSubmissions } from '../storage/submission/open-submissions.ts';
import { settleOrPutOff } from './put-off.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;
/**
 * Recovery: inquires about every submission whose outcome is open and due, and settles what the processor answers. Only
 * an answer or a fenced "never seen it" ends one. What cannot be settled, for whatever reason, is looked at again at
 * growing intervals and then comes to review.
 */
export function inquiries(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueSubmission> {
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
export function inquire(recovery: Sender): Promise<number> {
  return workOnce(inquiries(recovery));
}

async function takeDue(recovery: Sender, count: number, at: AtProcessor): Promise<DueSubmission[]> {
  const now = recovery.clock();
  const nextAt = callOverAt(recovery.processors, now);
  const due = { now, nextAt, limit: Math.ceil(count / 2) };
  const { query } = recovery.database;
  const taken = await Promise.all([
    takeDueSubmissions(query, 'hold', due, at),
    takeDueSubmissions(query, 'submission', due, at),
  ]);
  return taken.flat();
}

async function look(recovery: Sender, due: DueSubmission): Promise<'LATER' | Date | undefined> {
  const { kind, requestId } = due;
  const { inquires, again } = await recover(recovery, due);
  if (!inquires) return again;
  const processor = recovery.processors.of(due);
  const sent = await findSent(recovery.database.query, requestId);
  const answer = await processor.inquire(sent ?? due);
  if (answer.found === 'DONE' || answer.found === 'NEVER_SEEN') {
    const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
    return (await settleLate(recovery, due, outcome)) ? undefined : again;
  }
  const said = answer.found === 'AT_WORK' ? answer.expectedBy : undefined;
  const expectedBy = said && (await processor.acceptedUntil(kind, due.createdAt, said));
  // What the processor takes its time over is no trouble: it needs no review before its time is over.
  const nextAt = nextLook(recovery.clock(), expectedBy ?? due.expectedBy ?? undefined);
  if (!nextAt) return again;
  await recovery.books.postponeInquiry(kind, requestId, nextAt, expectedBy);
  return undefined;
}
