import type { Sender } from '../kinds/facts.ts';
import type { DueSubmission } from '../storage/submission/open-submissions.ts';

/** Pauses between inquiries, seconds; after the last one the operation goes to needs review. About a day in all. */
const PAUSES_S = [2, 5, 10, 30, 60, 300, 900, 3_600, 3_600, 3_600, 7_200, 14_400, 28_800, 28_800];

/**
 * Looks at a submission. What could not be settled, whether there was no answer or something failed, is put off: at
 * growing intervals, and by the given time at the latest; in the end it comes to review. Throws what `look` throws.
 */
export async function settleOrPutOff(
  recovery: Sender,
  due: DueSubmission,
  look: (recovery: Sender, due: DueSubmission) => Promise<'LATER' | Date | undefined>,
): Promise<void> {
  try {
    const by = await look(recovery, due);
    if (by) await putOff(recovery, due, by);
  } catch (error) {
    await putOff(recovery, due, 'LATER');
    throw error;
  }
}

async function putOff({ books, clock, log }: Sender, due: DueSubmission, by: 'LATER' | Date): Promise<void> {
  const { kind, requestId, processor } = due;
  const pauseS = PAUSES_S[due.inquiryCount];
  if (pauseS !== undefined) {
    const at = clock().getTime() + pauseS * 1_000;
    return books.postponeInquiry(kind, requestId, new Date(by === 'LATER' ? at : Math.min(at, by.getTime())));
  }
  if (await books.markNeedsReview(kind, requestId)) log.error('needs_review', { kind, requestId, processor });
}
