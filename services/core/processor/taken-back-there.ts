import { type Entry, EntryKind } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { identifierOf } from '../domain/operation.ts';
import { HoldfastError } from '../domain/refusal.ts';
import type { Processor } from './processor.ts';

type Sent = Parameters<typeof identifierOf>[0];

/**
 * What is taken back of a capture by the processor's books, minor units: reversed and not reinstated, or refunded. Without a capture, what
 * is taken back of the hold and of none of its captures there. Throws UNAVAILABLE when the processor does not answer.
 */
export async function takenBackThere(processor: Processor, hold: Sent, capture: Sent | undefined): Promise<bigint> {
  const entries = await entriesOf(processor, identifierOf(hold));
  if (capture) return sum(entries.filter(({ requestId }) => requestId === identifierOf(capture)));
  const ofKind = (kind: EntryKind) => sum(entries.filter((entry) => entry.kind === kind));
  return ofKind(EntryKind.AUTHORIZATION) - ofKind(EntryKind.CAPTURE);
}

function sum(entries: readonly Entry[]): bigint {
  return entries.reduce((total, { reversed, refunded }) => total + reversed + refunded, 0n);
}

async function entriesOf(processor: Processor, authorizationRequestId: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  let pageToken = '';
  do {
    const page = await processor.listEntries({ pageSize: 1_000, pageToken, authorizationRequestId }).catch((cause) => {
      throw new HoldfastError('UNAVAILABLE', 'the processor does not answer about it', { cause, retryAfterS: 1 });
    });
    entries.push(...page.entries);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return entries;
}
