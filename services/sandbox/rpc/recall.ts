import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry, Intent } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { agrees } from './authorization.ts';
import { type Outcome, refusal, resultOf } from './outcome.ts';

/**
 * What an identifier's earlier use means for a request: the recorded answer when it asks the same, a refusal
 * `fenced` or `identifier_reused`, or undefined when the identifier is new.
 */
export function recall(books: Books, intent: Intent): Outcome | undefined {
  const entry = books.entries.find(intent.requestId);
  if (!entry) return undefined;
  if (entry.kind === 'fence') return refusal('fenced', 'This identifier was inquired about before it arrived.');
  if (!sameIntent(entry, intent) || entry.answer === Answer.UNSPECIFIED) {
    return refusal('identifier_reused', 'This identifier was used for something else.');
  }
  return { heard: true, result: resultOf(entry), delayMs: 0 };
}

/** Whether an entry was made by a request that asked the very same. */
export function sameIntent(entry: Entry, intent: Intent): boolean {
  return (Object.keys(intent) as (keyof Intent)[]).every((name) =>
    isSaidLater(entry, name) ? agrees(entry[name] as string, intent[name] as string) : entry[name] === intent[name],
  );
}

/** Core did not always say the account, nor whose hold it voids: a repeated request may say it for the first time. */
function isSaidLater({ kind }: Entry, name: keyof Intent): boolean {
  return name === 'account' || (name === 'merchantId' && kind === 'void');
}
