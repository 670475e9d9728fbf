/** What merchants were notified of, beside what the processors did. */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';
import type { Notification } from '../deployment/receiver.ts';
import type { Story } from './traffic.ts';

type Received = ReadonlyMap<string, readonly Notification[]>;

/**
 * Compares the notifications with the processors' acts for these customers: each act is told under one requestId, the
 * amounts of each hold are those of the books, and what was lost and is told again says that it was imported. Returns
 * how many acts there were, how many operations were told again, and what is wrong.
 */
export function wronglyTold(
  received: Received,
  stories: readonly Story[],
  entries: readonly Entry[],
  isLost: (requestId: string) => boolean,
) {
  const users = new Set(stories.map(({ userId }) => userId));
  const done = entries.filter(({ answer }) => answer === Answer.APPROVED);
  const firsts = [...received.values()].flatMap(([first]) => (first?.reference === undefined ? [] : [first]));
  const toldAbout = Map.groupBy(firsts, ({ reference }) => reference);
  const toldOn = Map.groupBy(firsts, ({ holdRequestId }) => holdRequestId);
  const doneOn = Map.groupBy(done, ({ authorizationRequestId }) => authorizationRequestId);
  const wrong: string[] = [];
  let acts = 0;
  for (const first of (doneOn.get('') ?? []).filter(({ userId }) => users.has(userId))) {
    const onIt = doneOn.get(first.requestId) ?? [];
    for (const { kind, requestId, reference } of [first, ...onIt]) {
      const { length } = toldAbout.get(reference) ?? [];
      if (length !== 1) wrong.push(`the ${kind} ${requestId} is told under ${length} requestIds`);
      acts++;
    }
    const told = toldOn.get(toldAbout.get(first.reference)?.[0]?.requestId) ?? [];
    const [isTold, isThere] = [toldSums(told), doneSums(first, onIt)];
    if (first.kind !== 'credit' && isTold !== isThere)
      wrong.push(`the ${first.kind} ${first.requestId} is told as ${isTold}, and is ${isThere}`);
  }
  const again = [...received].filter(([requestId, { length }]) => length > 1 && isLost(requestId));
  for (const [requestId, [, ...others]] of again)
    if (!others.every(({ imported }) => imported)) wrong.push(`${requestId} is told again as if it were new`);
  return { acts, again: again.length, wrong };
}

function toldSums(told: readonly Notification[]): string {
  const sum = (...operations: readonly string[]) =>
    told.reduce((sum, { operation, amount }) => sum + (operations.includes(operation) ? amount : 0), 0);
  return sumsOf(sum('CAPTURE'), sum('REFUND'), sum('RELEASE', 'EXPIRY'));
}

function doneSums({ captured, refunded }: Entry, onIt: readonly Entry[]): string {
  const voids = onIt.filter(({ kind }) => kind === 'void');
  return sumsOf(
    captured,
    refunded,
    voids.reduce((sum, { voided }) => sum + voided, 0),
  );
}

const sumsOf = (captured: number, refunded: number, voided: number) =>
  `${captured} captured, ${refunded} refunded, ${voided} given back`;
