import type { CreditRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Books } from '../ledger/ledger.ts';
import type { Outcome } from './outcome.ts';
import { place } from './place.ts';

/** Pays to the card of a token (OCT). */
export function credit(books: Books, request: CreditRequest, nowMs: number): Outcome {
  return place(books, 'credit', request, nowMs);
}
