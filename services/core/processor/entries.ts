import { type Entry, EntryKind } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { identifierOf } from '../domain/operation.ts';
import { HoldfastError } from '../domain/refusal.ts';
import { ContractViolation } from './contract.ts';
import type { Processor } from './processor.ts';

/** A source of a processor's books. */
export type Ledger = Pick<Processor, 'listEntries'>;

/**
 * Reads a processor's books page by page, those of one authorization or, with '', all. Throws UNAVAILABLE, naming the processor, when it does
 * not answer, when a page breaks the contract, and when the pages do not end.
 */
export async function* readEntries(
  name: string,
  ledger: Ledger,
  authorizationRequestId: string,
): AsyncGenerator<readonly Entry[]> {
  const firsts = new Set<string | undefined>();
  let pageToken = '';
  do {
    const page = await ledger.listEntries({ pageSize: 1_000, pageToken, authorizationRequestId }).catch((cause) => {
      if (cause instanceof HoldfastError) throw cause;
      const why = cause instanceof ContractViolation ? `breaks the contract (${cause.message})` : 'does not answer';
      throw unreadable(`processor ${name} ${why}, so its books cannot be read`, cause);
    });
    // An identifier stands in the books once, whatever the tokens of the pages are.
    const first = page.entries[0]?.requestId;
    if (firsts.has(first)) throw unreadable(`processor ${name} repeats a page, so its books do not end`);
    firsts.add(first);
    yield page.entries;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
}

function unreadable(text: string, cause?: unknown): HoldfastError {
  return new HoldfastError('UNAVAILABLE', text, { cause, retryAfterS: 1 });
}

type Sent = Parameters<typeof identifierOf>[0];

/**
 * What is taken back of a capture by the processor's books, minor units: reversed and not reinstated, or refunded. Without a capture, what
 * is taken back of the hold and of none of its captures there. Throws UNAVAILABLE when the processor does not answer.
 */
export async function takenBackThere(
  name: string,
  ledger: Ledger,
  hold: Sent,
  capture: Sent | undefined,
): Promise<bigint> {
  const entries = (await Array.fromAsync(readEntries(name, ledger, identifierOf(hold)))).flat();
  if (capture) return sum(entries.filter(({ requestId }) => requestId === identifierOf(capture)));
  const ofKind = (kind: EntryKind) => sum(entries.filter((entry) => entry.kind === kind));
  return ofKind(EntryKind.AUTHORIZATION) - ofKind(EntryKind.CAPTURE);
}

function sum(entries: readonly Entry[]): bigint {
  return entries.reduce((total, { reversed, refunded }) => total + reversed + refunded, 0n);
}
