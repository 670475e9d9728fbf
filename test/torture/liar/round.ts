/** One round: a merchant whose operations a processor lies about, beside one to whom it is honest. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  ContradictionKind,
  OperatorService,
  type ReviewItem,
  ReviewReason,
} from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { type Capture, HoldStatus, type Preauthorization } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { subjectOf } from '../../../services/conformance/inbox.ts';
import { type Liar, startLiar } from '../../services/conformance/liar.ts';
import { openMerchant, type Shop, sql } from '../../services/core/shop.ts';
import { openStage, type Stage } from '../../services/core/stage.ts';
import { judge, judgeSums, Transcript } from './judge.ts';
import { only, type Row, together } from './lies.ts';

/** What became of the operations that were lied about. */
export type Tally = Record<
  | 'ended by themselves'
  | 'decided by an operator'
  | 'unfrozen'
  | 'corrected'
  | 'came back'
  | 'acknowledged'
  | 'looks that failed',
  number
>;

export type House = Awaited<ReturnType<typeof openHouse>>;

const HOUR_MS = 3_600_000;
const DAY = { holdPeriod: { seconds: 86_400n } };
/** The hold period, then the longest time that an expiry may stay accepted, then the day of inquiries. */
const HOURS = 24 * (1 + 7 + 3);
/** The intervals between inquiries grow, so larger steps miss little. */
const STEP_HOURS = 3;

/** Opens a core behind a liar, with the two merchants. */
export async function openHouse() {
  let stage: Stage | undefined;
  const opened = () => stage ?? assert.fail('the stage is open');
  const liar = await startLiar({
    sandbox: () => `127.0.0.1:${opened().sandbox.grpcPort}`,
    credential: () => opened().tokens.credential,
    events: () => `127.0.0.1:${opened().cores[0]?.corePort}`,
    token: () => opened().tokens.processor,
  });
  stage = await openStage({ processor: liar.processor, eventsTo: liar.core, processorTimeoutMs: 20_000 });
  const [victim, calm] = [await openMerchant(stage, 'victim', DAY), await openMerchant(stage, 'calm')];
  const operators = stage.client('operator', OperatorService);
  const own = opened();
  return {
    stage: own,
    liar,
    operators,
    victim,
    calm,
    async close() {
      await own.close();
      liar.close();
    },
  };
}

/** Plays one; throws when an operation does not end, a list fails, or the other merchant waits. */
export async function playRound(house: House, rows: readonly Row[], tally: Tally): Promise<void> {
  const { stage, victim } = house;
  const holds = await Promise.all(TOKENS.map((tokenId) => victim.hold({ tokenId: `tok_sandbox_${tokenId}` })));
  const soon = timestampFromMs(stage.clock.now() + HOUR_MS);
  const byThemselves = [await victim.hold({ captureAt: soon }), await victim.hold({ releaseAt: soon })];
  const capture = await victim.captured();
  const returning = await victim.captured(10_000n, { tokenId: 'tok_sandbox_refund_returned', currency: 'JPY' });
  const before = await idsOf(stage);
  const correctedBefore = tally.corrected;
  const transcript = lie(house.liar, rows);
  await askForAll(victim, holds, [capture, returning]);
  await calmly(house);
  for (let hour = 0; hour < HOURS; hour += STEP_HOURS) await pass(house, tally);
  await readAll(house);
  await calmly(house);
  const asked = (await idsOf(stage)).difference(before);
  const decided = await decideAll(house, tally);
  house.liar.lie = transcript.noting({});
  for (let hour = 0; hour < 48; hour += STEP_HOURS) await pass(house, tally);
  await decideAll(house, tally);
  // What an operator has called undone was done: the void of its hold gave less back, so that waited for an operator.
  await pass(house, tally);
  const open = await sql(stage, OPEN);
  assert.deepEqual(open, [], 'nothing stays open once the processor is honest again');
  for (const { requestId } of byThemselves) {
    assert.notEqual((await victim.get({ requestId })).status, HoldStatus.IN_PROGRESS, 'it ends by itself');
  }
  assert.deepEqual(await stage.audit('own books'), []);
  await judge(stage, transcript, asked);
  if (rows.length === 1 && rows[0]?.isCorrected) {
    assert(tally.corrected > correctedBefore, 'an operator corrects what was told falsely');
  }
  tally['came back'] += await countReturns(stage, asked);
  tally['ended by themselves'] += asked.size - decided;
}

/** Of the holds that are placed before anything is lied about. */
const TOKENS = [
  ...(['ok', 'ok', 'ok', 'capture_accepted', 'reversed', 'ended_early', 'void_accepted'] as const),
  ...(['ok', 'ok', 'ok', 'increment_accepted'] as const),
];

/** Lies about the victim's operations only: those that its requests have named. */
function lie(liar: Liar, rows: readonly Row[]): Transcript {
  const named = new Set<string>();
  const isAbout = (message: object): boolean => {
    const { merchantId, requestId = '', event } = message as Record<string, string> & { event?: never };
    if (event !== undefined) return named.has(subjectOf(event));
    if (merchantId === 'victim') named.add(requestId);
    return merchantId === 'victim';
  };
  const transcript = new Transcript();
  liar.lie = transcript.noting(only(together(rows.map((row) => row.lie)), isAbout));
  return transcript;
}

/** One operation of each kind, and of each way to end. Whatever the answer is, it must be one that is documented. */
async function askForAll(
  victim: Shop,
  holds: readonly Preauthorization[],
  [capture, returning]: readonly [Capture, Capture],
): Promise<void> {
  const [captured, released, , accepted, reversed, ended, voided, ...others] = holds.map(
    (hold) => hold ?? assert.fail(),
  );
  const [incremented, extended, renewed, incrementing] = others;
  const calls = [
    victim.place(),
    victim.place({ tokenId: 'tok_sandbox_declined' }),
    victim.place({ tokenId: 'tok_sandbox_accepted' }),
    victim.checkout(),
    victim.oct(),
    victim.oct({ tokenId: 'tok_sandbox_accepted' }),
    victim.capture(captured as never, 4_000n),
    victim.capture(accepted as never, 4_000n),
    victim.capture(reversed as never, 4_000n),
    victim.capture(ended as never, 1_000n),
    victim.release(released as never),
    victim.release(voided as never),
    victim.increment(incremented as never, 1_000n),
    victim.increment(incrementing as never, 1_000n),
    victim.extend(extended as never),
    victim.renew(renewed as never),
    victim.refund(capture, 3_000n),
    victim.refund(capture, 2_000n),
    victim.refund(returning, 3_000n, { currency: 'JPY' }),
    victim.oct({ tokenId: 'tok_sandbox_oct_returned', currency: 'JPY' }),
    victim.oct({ tokenId: 'tok_sandbox_oct_returned_in_part' }),
    victim.place({ currency: 'JPY' }),
  ];
  for (const call of await Promise.allSettled(calls)) {
    if (call.status === 'fulfilled') continue;
    const { code } = call.reason as { code: number };
    assert([FAILED_PRECONDITION, ABORTED].includes(code), `an answer that is not documented: ${call.reason}`);
  }
}

const [FAILED_PRECONDITION, ABORTED] = [9, 10];

/** The other merchant gets its results at once. */
async function calmly({ calm }: House): Promise<void> {
  const [hold, other] = [await calm.hold(), await calm.hold()];
  const answers = await Promise.all([calm.capture(hold, 10_000n), calm.release(other), calm.oct()]);
  const states = [answers[0].capture?.state, answers[1].state, answers[2].oct?.state];
  assert.deepEqual(states, [OperationState.OK, OperationState.OK, OperationState.OK], 'the other merchant waits');
}

/**
 * Time passes, the sandbox reports, and the worker does what is due. What fails in it must not keep the rest from being
 * done.
 */
async function pass({ stage }: House, tally: Tally): Promise<void> {
  stage.clock.advance(STEP_HOURS * HOUR_MS);
  await stage.sandbox.reportDue();
  await judgeSums(stage);
  for (const work of [stage.inquire, stage.captureDue, stage.releaseRenewed, stage.expire]) {
    await work().catch(() => {
      tally['looks that failed']++;
    });
  }
}

/** Reads every list to its end, and the audit of all books. */
async function readAll({ stage, operators, victim, calm }: House): Promise<void> {
  const { holds, operations } = stage.channel('operator');
  const lists = [
    (page: object) => holds.listPreauthorizations(page),
    (page: object) => operations.listOperations(page),
    (page: object) => operators.listReviewItems(page),
    (page: object) => operators.listAuditEntries(page),
  ];
  for (const list of lists) {
    let pageToken = '';
    do ({ nextPageToken: pageToken } = await list({ pageSize: 200, pageToken }));
    while (pageToken !== '');
  }
  for (const { merchantId } of [victim, calm]) await holds.listPreauthorizations({ merchantId, pageSize: 200 });
  await operators.getOverview({});
  await stage.audit();
}

/** Each operation has its result, or an operator sees it and decides. Returns about how many. */
async function decideAll(house: House, tally: Tally): Promise<number> {
  const { stage, operators } = house;
  const open = await sql<{ id: string; state: string; what: string }>(stage, OPEN);
  const items = await allReviews(operators);
  const seen = new Set(items.map(({ requestId }) => requestId));
  for (const { id, state, what } of open) {
    assert(seen.has(id), `an operator does not see the ${what} ${id}, which is ${state}`);
    const decision = { requestId: id, outcome: OperationState.KO, reason: 'their support says so', unfenced: true };
    await operators.resolveOperation(decision).catch(async (error) => {
      const [now] = await sql<{ id: string }>(stage, `select * from (${OPEN}) open where id = $1`, [id]);
      assert.equal(now, undefined, `an operator cannot decide about the ${what} ${id}, which is ${state}: ${error}`);
    });
    tally['decided by an operator']++;
  }
  await correctAll(house, items, tally);
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
async function correctAll({ stage, operators }: House, items: readonly ReviewItem[], tally: Tally): Promise<void> {
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

async function countReturns(stage: Stage, asked: ReadonlySet<string>): Promise<number> {
  const text = `select from operation where kind in ('REFUND_RETURN', 'OCT_RETURN')
    and coalesce(refund_request_id, oct_request_id) = any($1::uuid[])`;
  return (await sql(stage, text, [[...asked]])).length;
}

/** Everything that waits for an operator. */
async function allReviews(operators: House['operators']): Promise<ReviewItem[]> {
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
const OPEN = `select request_id as id, phase as state, 'hold' as what from hold
    where phase not in ('AUTHORIZED', 'FAILED') and not closing
  union all select request_id, state, kind from submission where state not in ('OK', 'KO')`;

async function idsOf(stage: Stage): Promise<Set<string>> {
  const rows = await sql<{ id: string }>(
    stage,
    'select request_id as id from hold union select request_id from submission',
  );
  return new Set(rows.map(({ id }) => id));
}
