/** An operator who decides, corrects, unfreezes and acknowledges everything that waits for one. */
import assert from 'node:assert/strict';
import type { GrpcClient } from '../../../platform/grpc-client.ts';
import {
  ContradictionKind,
  type OperatorService,
  type ReviewItem,
  ReviewReason,
} from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { sql } from '../../services/core/shop.ts';
import type { Stage } from '../../services/core/stage.ts';

/** What became of the operations that were lied about. */
export type Tally = Record<
  | 'ended by themselves'
  | 'decided by an operator'
  | 'unfrozen'
  | 'corrected'
  | 'came back'
  | 'renewed themselves'
  | 'acknowledged'
  | 'looks that failed',
  number
>;

interface Desk {
  readonly stage: Stage;
  readonly operators: GrpcClient<typeof OperatorService>;
}

export const emptyTally = (): Tally => ({
  'ended by themselves': 0,
  'decided by an operator': 0,
  unfrozen: 0,
  corrected: 0,
  'came back': 0,
  'renewed themselves': 0,
  acknowledged: 0,
  'looks that failed': 0,
});

const FAILED_PRECONDITION = 9;

/** Each operation has its result, or an operator sees it and decides. Returns about how many. */
export async function decideAll(
  { stage, operators }: Desk,
  decided: Map<string, 'OK' | 'KO'>,
  tally: Tally,
): Promise<number> {
  const open = await sql<{ id: string; state: string; what: string }>(stage, OPEN);
  const items = await allReviews(operators);
  const seen = new Set(items.map(({ requestId }) => requestId));
  for (const { id, state, what } of open) {
    assert(seen.has(id), `an operator does not see the ${what} ${id}, which is ${state}`);
    const decision = { requestId: id, outcome: OperationState.KO, reason: 'their support says so', unfenced: true };
    const resolved = operators.resolveOperation(decision).then(() => decided.set(id, 'KO'));
    await resolved.catch(async (error) => {
      const [now] = await sql<{ id: string }>(stage, `select * from (${OPEN}) open where id = $1`, [id]);
      assert.equal(now, undefined, `an operator cannot decide about the ${what} ${id}, which is ${state}: ${error}`);
    });
    tally['decided by an operator']++;
  }
  await correctAll({ stage, operators }, items, tally);
  for (const { id } of await sql<{ id: string }>(stage, 'select request_id as id from hold where frozen')) {
    assert(seen.has(id), `an operator does not see the frozen hold ${id}`);
    await operators.resolveOperation({ requestId: id, unfreezeHold: true, reason: 'cleared with them' });
    tally.unfrozen++;
  }
  for (const { requestId, reason } of await allReviews(operators)) {
    if (reason !== ReviewReason.CONTRADICTED) continue;
    await operators.acknowledgeContradictions({ requestId, reason: 'cleared with them' });
    tally.acknowledged++;
  }
  const left = await sql(stage, 'select * from contradiction where resolved_at is null');
  assert.deepEqual(left, [], 'an operator sees everything that is contradicted, and resolves it');
  return open.length;
}

/** An operator who has looked into the processor's books believes these, as far as what followed allows it. */
async function correctAll({ stage, operators }: Desk, items: readonly ReviewItem[], tally: Tally): Promise<void> {
  const told = items.flatMap(({ contradictions }) => contradictions);
  const contradicted = new Set(
    told.filter(({ kind }) => kind === ContradictionKind.RESULT).map((each) => each.requestId),
  );
  const rows = await sql<{ id: string; identifier: string; state: string }>(stage, CORRECTABLE, [[...contradicted]]);
  for (const { id, identifier, state } of rows) {
    const outcome = stage.oracle.find(identifier)?.answer === 1 ? OperationState.OK : OperationState.KO;
    if (OperationState[outcome] === state) continue;
    await operators.correctOperation({ requestId: id, outcome, reason: 'their books say so' }).then(
      () => tally.corrected++,
      ({ code }) => assert.equal(code, FAILED_PRECONDITION, 'a correction is refused for what is in the way'),
    );
  }
}

const CORRECTABLE = `select request_id as id, coalesce(processor_request_id, request_id)::text as identifier, state
  from submission where request_id = any($1::uuid[]) and kind in ('CAPTURE', 'INCREMENT', 'REFUND', 'OCT')
    and state in ('OK', 'KO')`;

/** Everything that waits for an operator. */
async function allReviews(operators: Desk['operators']): Promise<ReviewItem[]> {
  const all: ReviewItem[] = [];
  let pageToken = '';
  do {
    const page = await operators.listReviewItems({ pageSize: 200, pageToken });
    all.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return all;
}

/**
 * What has no result. Within the time that passes, nothing may be accepted or awaited any more. A checkout that is
 * being closed waits for its release.
 */
export const OPEN = `select request_id as id, phase as state, 'hold' as what from hold
    where phase not in ('AUTHORIZED', 'FAILED') and not closing
  union all select request_id, state, kind from submission where state not in ('OK', 'KO')`;
