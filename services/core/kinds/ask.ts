import { pointOf } from '../crash-points.ts';
import type { FinalOutcome } from '../domain/operation.ts';
import { type Ending, end } from './end.ts';
import type { Asker, Kind, Named } from './kind.ts';

/** What became of asking; UNKNOWN = there is no final answer yet, and recovery inquires. */
export type Asked<Settled> = (Ending<Settled> & { readonly outcome: FinalOutcome }) | { readonly is: 'UNKNOWN' };

/**
 * Sends a stored submission to the processor and stores its answer. What was not answered clearly stays unknown, and recovery inquires
 * soon: nothing here guesses.
 */
export async function ask<Facts extends Named, Settled>(
  asker: Asker,
  kind: Kind<Facts, Settled>,
  facts: Facts,
): Promise<Asked<Settled>> {
  const operation = kind.operationOf(facts);
  if (operation) asker.reach(pointOf(operation, 'stored'));
  const processor = asker.processors.of(facts);
  const outcome = await kind.call(processor, facts);
  if (operation) asker.reach(pointOf(operation, 'answered'));
  if (outcome.answer !== 'UNKNOWN' && outcome.answer !== 'ACCEPTED') {
    return { ...(await end(asker, kind, facts, outcome)), outcome };
  }
  const now = asker.clock();
  const said = outcome.answer === 'ACCEPTED' ? outcome.expectedBy : undefined;
  const expectedBy = said && (await processor.acceptedUntil(kind.table, now, said));
  const soon = new Date(now.getTime() + FIRST_INQUIRY_MS);
  await asker.books.markUnknown(kind.table, facts.requestId, nextLook(now, expectedBy) ?? soon, expectedBy);
  return { is: 'UNKNOWN' };
}

const FIRST_INQUIRY_MS = 1_000;

/**
 * When to inquire about what the processor has accepted: events may get lost, so now and then while it is at work, and when it should
 * have ended. Undefined = it should have ended already, or the processor did not say when.
 */
export function nextLook(now: Date, expectedBy: Date | undefined): Date | undefined {
  if (expectedBy === undefined || expectedBy <= now) return undefined;
  return new Date(Math.min(expectedBy.getTime(), now.getTime() + ACCEPTED_INQUIRY_MS));
}

const ACCEPTED_INQUIRY_MS = 3_600_000;
