import { notPerformed } from '../../../platform/adapter/ending.ts';
import { findingOf, type InquiryReply } from '../../../platform/adapter/identifier.ts';
import { Answer, Finding, type InquireRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Entry, intentOf } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { endingOf, resultOf } from './outcome.ts';
import { CHECKOUT_EXPIRED } from './void.ts';

/**
 * Returns what became of an identifier. With `fence`, an identifier that was never seen is refused for ever. Decisions
 * on the ledger are taken one after the other, so a late request comes either before this one (DONE) or after it
 * (`fenced`).
 */
export function inquire(books: Books, request: InquireRequest, nowMs: number): InquiryReply {
  const entry = books.entries.find(request.requestId);
  if (!entry) {
    if (request.fence) fence(books, request, nowMs);
    return { finding: Finding.NEVER_SEEN, fenced: request.fence };
  }
  const isOpen = entry.kind === 'checkout' && entry.answer === Answer.UNSPECIFIED;
  return isOpen ? inquireCheckout(books, entry, nowMs) : findingOf(entry, resultOf(entry));
}

/** An open checkout is at work until its page closes; then it ends without a card. */
function inquireCheckout(books: Books, entry: Entry, nowMs: number): InquiryReply {
  const checkout = books.checkouts.find(entry.requestId);
  if (checkout && nowMs < checkout.expiresAtMs) return { finding: Finding.AT_WORK };
  const effect = notPerformed(CHECKOUT_EXPIRED, 'The customer did not complete the checkout in time.');
  const ending = endingOf(entry, { effect, nowMs });
  books.entries.end(entry.requestId, ending);
  return { finding: Finding.DONE, result: resultOf({ ...entry, ...ending }) };
}

function fence(books: Books, { requestId }: InquireRequest, nowMs: number): void {
  const ending = endingOf({ kind: 'fence' }, { effect: notPerformed('fenced', ''), nowMs });
  books.entries.insert(intentOf('fence', { requestId }), ending);
}
