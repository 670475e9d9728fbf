import type { AuthorizeRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Books } from '../ledger/ledger.ts';
import type { Outcome } from './outcome.ts';
import { place } from './place.ts';

/** Reserves an amount on the card of a token. */
export function authorize(books: Books, request: AuthorizeRequest, nowMs: number): Outcome {
  return place(books, 'authorization', request, nowMs);
}
