import { AGAIN } from '../../../platform/gather.ts';
import { BY_ANSWER, type Contradiction } from '../domain/contradiction.ts';
import { holdAfter } from '../domain/hold-after.ts';
import { endedAmountAfter } from '../domain/hold-rules.ts';
import { isOk } from '../domain/outcome.ts';
import { contradictionRow } from '../storage/contradiction/contradictions.ts';
import type { Database, Query } from '../storage/database.ts';
import { endpointName } from '../storage/endpoint/endpoint-row.ts';
import type { WrittenHold } from '../storage/hold/hold-row.ts';
import { type KnownHold, readHoldsOfOpen } from '../storage/hold/read-holds.ts';
import { type HoldEnd, settleHolds } from '../storage/hold/settle-holds.ts';
import type { ResultInput } from '../storage/operation/append-results.ts';
import {
  type Settled as Done,
  type SubmissionEnd,
  settleSubmissions,
} from '../storage/submission/settle-submissions.ts';
import type { Facts, HoldFacts, SubmissionFacts } from './facts.ts';
import type { LastWritten } from './last-written.ts';
import { reckonOct } from './oct-books.ts';
import { type Ending, endInput, expiryOf, guaranteeOf, resultOf } from './operation-result.ts';
import { RULES } from './rules.ts';
import { type WrittenSubmission, writtenHold, writtenSubmission } from './written.ts';

/** An ended operation, and its outcome. */
export interface Settlement<F extends Facts = Facts> extends Ending {
  readonly facts: F;
}

/** The effect of settling. */
export interface Settled {
  /** True when something ended. */
  readonly changed: boolean;
  /** The endpoints for which it made deliveries. */
  readonly endpoints: readonly string[];
  /** The result, when it was written. */
  readonly result?: Pick<ResultInput, 'kind' | 'status' | 'statusInfo'> | undefined;
  /** The submission as it is written now, and its hold right before; or the hold as it is written now. */
  readonly submission?: WrittenSubmission | undefined;
  readonly before?: KnownHold | undefined;
  readonly hold?: WrittenHold | undefined;
  /** The processor's contradiction of our books, which is kept: the hold is frozen. */
  readonly contradicts?: Contradiction | undefined;
}

/** Nothing was written, because nothing was open. */
export const NOTHING_SETTLED: Settled = { changed: false, endpoints: [] };

/**
 * Settles submissions, those on a hold each of another one: reads the holds that this process has not written last,
 * reckons, and writes where a hold has not changed since.
 */
export async function settleGathered(
  { query }: Database,
  lastWritten: LastWritten,
  settlements: readonly Settlement<SubmissionFacts>[],
): Promise<(Settled | typeof AGAIN)[]> {
  const holds = await holdsOf(query, lastWritten, settlements);
  const ends = settlements.map((settlement) => reckon(settlement, holds.get(settlement.facts.requestId)));
  const toWrite = ends.filter((end) => end !== undefined);
  if (toWrite.length === 0) return ends.map(() => NOTHING_SETTLED);
  const done = await settleSubmissions(query, toWrite);
  return settlements.map((settlement, place) => {
    const end = ends[place];
    if (!end) return NOTHING_SETTLED;
    if (!done.locked.has(end.requestId)) return AGAIN;
    const before = holds.get(end.requestId);
    const submission = writtenSubmission(settlement.facts, end, settlement, before);
    return { ...settledOf(done, end.requestId, end.operation), submission, before, contradicts: end.contradicts };
  });
}

/** The holds of submissions, by the submission's requestId, without those that are read and have a result. */
async function holdsOf(
  query: Query,
  lastWritten: LastWritten,
  settlements: readonly Settlement<SubmissionFacts>[],
): Promise<ReadonlyMap<string, KnownHold>> {
  const written = new Map<string, KnownHold>();
  const toRead: string[] = [];
  for (const { facts } of settlements) {
    const hold = facts.hold && lastWritten.takeAsStored(facts.hold, facts.requestId);
    if (hold) written.set(facts.requestId, hold);
    else if (facts.holdRequestId) toRead.push(facts.requestId);
  }
  const read = await readHoldsOfOpen(query, toRead);
  return new Map([...written, ...read]);
}

/** Undefined = it is on a hold and has ended before. */
function reckon(
  { facts, ...ending }: Settlement<SubmissionFacts>,
  hold: KnownHold | undefined,
): SubmissionEnd | undefined {
  if (facts.kind === 'OCT') return reckonOct(facts, ending);
  if (!hold) return undefined;
  const reckoned = RULES[facts.kind].reckon(facts, hold, ending);
  const endedAmount = endedAmountAfter(hold, reckoned.remaining ?? hold.remaining) ?? reckoned.endedAmount;
  const end = { ...reckoned, endedAmount };
  if (!end.contradicts) return end;
  const { requestId, merchantId, currency } = facts;
  const about = { requestId, holdRequestId: hold.requestId, merchantId, processor: hold.processor, currency };
  return { ...end, contradiction: contradictionRow(about, end.contradicts, ending.told ?? BY_ANSWER, ending.at) };
}

/** Settles the placing of holds. */
export async function settleGatheredHolds(
  { query }: Database,
  lastWritten: LastWritten,
  settlements: readonly Settlement<HoldFacts>[],
): Promise<(Settled | typeof AGAIN)[]> {
  const ends = settlements.map((settlement) => {
    const { facts } = settlement;
    const end = endOfHold(settlement);
    const hold = writtenHold(facts, end, settlement);
    const operation = resultOf(facts.requestId, 'HOLD', { ...facts, after: holdAfter(hold) }, settlement);
    return { hold, end: { ...end, operation } };
  });
  const done = await settleHolds(
    query,
    ends.map(({ end }) => end),
  );
  return ends.map(({ hold, end: { requestId, operation, ok } }) => {
    const written = done.changed.get(requestId);
    if (ok && written?.version) lastWritten.keep({ ...hold, ...written, version: written.version });
    return done.locked.has(requestId) ? { ...settledOf(done, requestId, operation), hold } : AGAIN;
  });
}

/** The effect of an outcome on a hold that is placed. */
function endOfHold(settlement: Settlement<HoldFacts>): HoldEnd {
  const { facts, outcome, at } = settlement;
  const end = { ...endInput(facts.requestId, settlement), card: outcome.card, storedVersion: facts.version };
  if (!isOk(outcome)) return end;
  const expiresAt = expiryOf(facts, at, outcome.expiresAt);
  const guaranteedUntil = guaranteeOf(outcome, expiresAt);
  return {
    ...end,
    expiresAt: expiresAt.toISOString(),
    guaranteedUntil: guaranteedUntil?.toISOString(),
    generatedTokenId: outcome.generatedTokenId,
    networkTransactionId: outcome.networkTransactionId,
    capabilities: outcome.capabilities,
  };
}

/** Returns the effect of a settling statement on one operation. */
export function settledOf(done: Done, requestId: string, operation: ResultInput | undefined): Settled {
  const changed = done.changed.has(requestId);
  if (!operation) return { changed, endpoints: [] };
  const { kind, status, statusInfo, merchantId } = operation;
  const endpointIds = done.delivered.get(operation.requestId) ?? [];
  return {
    changed,
    endpoints: endpointIds.map((endpointId) => endpointName({ merchantId, endpointId })),
    result: { kind, status, statusInfo },
  };
}
