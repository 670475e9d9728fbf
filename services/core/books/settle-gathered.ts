import { AGAIN } from '../../../platform/gather.ts';
import { BY_ANSWER, type Contradiction } from '../domain/contradiction.ts';
import type { HoldBooks } from '../domain/hold-rules.ts';
import type { SubmissionKind } from '../domain/kinds.ts';
import { isOk } from '../domain/outcome.ts';
import { contradictionRow } from '../storage/contradiction/contradictions.ts';
import type { Database } from '../storage/database.ts';
import { endpointName } from '../storage/endpoint/endpoint-row.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { type ReadHold, readHoldsOfOpen } from '../storage/hold/read-holds.ts';
import { settleHolds } from '../storage/hold/settle-holds.ts';
import type { NewRow } from '../storage/input-columns.ts';
import type { ResultInput } from '../storage/operation/append-results.ts';
import {
  type Settled as Done,
  type SubmissionEnd,
  settleSubmissions,
} from '../storage/submission/settle-submissions.ts';
import { reckonOct } from './oct-books.ts';
import { type Ending, endInput, expiryOf, resultOf, type SettledFields } from './operation-result.ts';
import { RULES } from './rules.ts';

/** A submission and its outcome. */
export interface SubmissionSettlement extends Ending {
  readonly submission: SettledFields & { readonly kind: SubmissionKind };
  /** Of one on a hold: its idHash, hexadecimal. What is written of one hold is written one after another. */
  readonly holdKey?: string | undefined;
}

/** The placing of a hold, and its outcome. */
export interface HoldSettlement extends Ending {
  readonly hold: HoldFields;
}

/** The fields of a hold that its placing needs; none of them changes. */
export type HoldFields = NewRow<HoldRow, 'requestId' | 'merchantId' | 'terminalId' | 'userId' | 'amount' | 'currency'> &
  NewRow<HoldRow, 'merchantReference' | 'notifyHolds' | 'holdPeriodS'>;

/** What settling did. */
export interface Settled {
  /** Whether it ended anything. */
  readonly changed: boolean;
  /** The endpoints for which it made deliveries. */
  readonly endpoints: readonly string[];
  /** The result, when it was written. */
  readonly result?: Pick<ResultInput, 'kind' | 'status' | 'statusInfo'> | undefined;
  /** Of what is on a hold: its books right after it. */
  readonly books?: HoldBooks | undefined;
  /** What the processor said against our books, which is kept: the hold is frozen. */
  readonly contradicts?: Contradiction | undefined;
}

/** Nothing was written, because there was nothing to end. */
export const NOTHING_SETTLED: Settled = { changed: false, endpoints: [] };

/**
 * Settles submissions, those on a hold each of another one: reads the holds, reckons, and writes where a hold has not
 * changed since.
 */
export async function settleGathered(
  { query }: Database,
  settlements: readonly SubmissionSettlement[],
): Promise<(Settled | typeof AGAIN)[]> {
  const onHold = settlements.flatMap(({ submission }) => (submission.holdRequestId ? submission.requestId : []));
  const holds = await readHoldsOfOpen(query, onHold);
  const ends = settlements.map((settlement) => reckon(settlement, holds.get(settlement.submission.requestId)));
  const toWrite = ends.filter((end) => end !== undefined);
  if (toWrite.length === 0) return ends.map(() => NOTHING_SETTLED);
  const done = await settleSubmissions(query, toWrite);
  return ends.map((end) => {
    if (!end) return NOTHING_SETTLED;
    if (!done.locked.has(end.requestId)) return AGAIN;
    const books = end.status === undefined ? undefined : (end as HoldBooks);
    return { ...settledOf(done, end.requestId, end.operation), books, contradicts: end.contradicts };
  });
}

/** Undefined = it is on a hold and has ended before. */
function reckon(
  { submission, ...ending }: SubmissionSettlement,
  hold: ReadHold | undefined,
): SubmissionEnd | undefined {
  if (submission.kind === 'OCT') return reckonOct(submission, ending);
  if (!hold) return undefined;
  const end = RULES[submission.kind].reckon(submission, hold, ending);
  if (!end.contradicts) return end;
  const { requestId, merchantId, currency } = submission;
  const about = { requestId, holdRequestId: hold.requestId, merchantId, processor: hold.processor, currency };
  return { ...end, contradiction: contradictionRow(about, end.contradicts, ending.told ?? BY_ANSWER, ending.at) };
}

/** Settles the placing of holds. */
export async function settleGatheredHolds(
  { query }: Database,
  settlements: readonly HoldSettlement[],
): Promise<(Settled | typeof AGAIN)[]> {
  const ends = settlements.map((settlement) => {
    const { hold, outcome, at } = settlement;
    const operation = resultOf(hold.requestId, 'HOLD', hold, settlement);
    const end = { ...endInput(hold.requestId, settlement), card: outcome.card, operation };
    if (!isOk(outcome)) return end;
    const { generatedTokenId, capabilities } = outcome;
    const expiresAt = expiryOf(hold, at, outcome.expiresAt).toISOString();
    return { ...end, expiresAt, generatedTokenId, capabilities };
  });
  const done = await settleHolds(query, ends);
  return ends.map(({ requestId, operation }) =>
    done.locked.has(requestId) ? settledOf(done, requestId, operation) : AGAIN,
  );
}

/** What a settling statement did of one of its ends. */
export function settledOf(done: Done, requestId: string, operation: ResultInput | undefined): Settled {
  const changed = done.changed.has(requestId);
  if (!operation) return { changed, endpoints: [] };
  const { delivery, kind, status, statusInfo, merchantId } = operation;
  const isDelivered = delivery !== undefined && done.deliveryIds.has(delivery.id);
  return {
    changed,
    endpoints: isDelivered ? [endpointName({ merchantId, kind: 'webhook' })] : [],
    result: { kind, status, statusInfo },
  };
}
