import { notPerformed } from '../../../platform/adapter/ending.ts';
import { findingOf, type InquiryReply } from '../../../platform/adapter/identifier.ts';
import { Finding, type InquireRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { intentOf } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { carryOut } from './outcome.ts';
import { expirePage, type Pages } from './page.ts';
import { shownResult } from './step-up.ts';

/**
 * Returns what became of an identifier. With `fence`, an identifier that was never seen is refused for ever. Decisions
 * on the ledger are taken one after the other, so a late request comes either before this one (DONE) or after it
 * (`fenced`). What waits for its customer is at work until its page closes; then it ends.
 */
export function inquire(books: Books, { requestId, fence }: InquireRequest, pages: Pages, nowMs: number): InquiryReply {
  const known = books.entries.find(requestId);
  if (known) {
    const entry = expirePage(books, known, nowMs);
    return findingOf(entry, shownResult(books, requestId, pages));
  }
  if (fence) {
    const intent = intentOf('fence', { requestId });
    books.entries.insert(intent, carryOut(books, intent, { effect: notPerformed('fenced', ''), nowMs }));
  }
  return { finding: Finding.NEVER_SEEN, fenced: fence };
}
