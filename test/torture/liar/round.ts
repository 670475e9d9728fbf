/** One round: a merchant whose operations a processor lies about, beside one to whom it is honest. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Operation } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldStatus } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { subjectOf } from '../../../services/conformance/inbox.ts';
import { type Liar, startLiar } from '../../services/conformance/liar.ts';
import { openMerchant, sql } from '../../services/core/shop.ts';
import { openStage, type Stage } from '../../services/core/stage.ts';
import { askForAll, prepare } from './ask-for-all.ts';
import { only, together } from './combine.ts';
import { judge, judgeSums } from './judge.ts';
import type { Row } from './lies.ts';
import { decideAll, OPEN, type Tally } from './operator.ts';
import { Transcript } from './transcript.ts';

export type House = Awaited<ReturnType<typeof openHouse>>;

const HOUR_MS = 3_600_000;
const DAY = { holdPeriod: { seconds: 86_400n } };
/** The hold period, then the longest time that an expiry may stay accepted, then the day of inquiries. */
const HOURS = 24 * (1 + 7 + 3);
/** The intervals between inquiries grow, so larger steps miss little. */
const STEP_HOURS = 3;

/** Opens a core behind a liar, with the two merchants, whose results are followed. */
export async function openHouse() {
  const house = await openLiarsHouse();
  const stream = follow(house.operations.watchOperations({ merchantId: 'victim' }));
  return {
    ...house,
    stream,
    async close() {
      stream.isClosing = true;
      await house.close();
    },
  };
}

export type LiarsHouse = Awaited<ReturnType<typeof openLiarsHouse>>;

/** Opens a core behind a liar, with the two merchants. */
export async function openLiarsHouse() {
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
  const { operations } = own.channel('gateway');
  return {
    stage: own,
    liar,
    operators,
    victim,
    calm,
    operations,
    async close() {
      await own.close();
      liar.close();
    },
  };
}

/** Keeps what a stream tells. It throws when it breaks before it is closed. */
function follow(stream: AsyncIterable<{ readonly operation?: Operation | undefined }>) {
  const kept = { isClosing: false, told: [] as Operation[] };
  (async () => {
    for await (const { operation } of stream) if (operation) kept.told.push(operation);
  })().catch((error) => assert(kept.isClosing, `the stream has broken: ${error}`));
  return kept;
}

/** Plays one; throws when an operation does not end, a list fails, or the other merchant waits. */
export async function playRound(house: House, rows: readonly Row[], tally: Tally): Promise<void> {
  const { stage, victim } = house;
  const earlier = await idsOf(stage);
  const transcript = new Transcript();
  house.liar.lie = transcript.noting({});
  const things = await prepare(victim, stage.clock.now());
  const soon = timestampFromMs(stage.clock.now() + HOUR_MS);
  const byThemselves = [await victim.hold({ captureAt: soon }), await victim.hold({ releaseAt: soon })];
  const before = await idsOf(stage);
  const correctedBefore = tally.corrected;
  lie(house.liar, rows, transcript);
  const answered = await askForAll(victim, things);
  await calmly(house);
  await passAllHolds(house, tally);
  await readAll(house);
  await calmly(house);
  const asked = (await idsOf(stage)).difference(before);
  const decided = new Map<string, 'OK' | 'KO'>();
  const decisions = await decideAll(house, decided, tally);
  house.liar.lie = transcript.noting({});
  for (let hour = 0; hour < 48; hour += STEP_HOURS) await pass(house, tally);
  await decideAll(house, decided, tally);
  // What an operator has called undone was done: the void of its hold gave less back, so that waited for an operator.
  await pass(house, tally);
  const open = await sql(stage, OPEN);
  assert.deepEqual(open, [], 'nothing stays open once the processor is honest again');
  for (const { requestId } of byThemselves) {
    assert.notEqual((await victim.get({ requestId })).status, HoldStatus.IN_PROGRESS, 'it ends by itself');
  }
  assert.deepEqual(await stage.audit('own books'), []);
  const areEventsTrue = rows.every((row) => row.lie.reportEvent === undefined);
  const all = (await idsOf(stage)).difference(earlier);
  await judge(house, { transcript, asked: all, decided, areEventsTrue, answered });
  if (rows.length === 1 && rows[0]?.isCorrected) {
    assert(tally.corrected > correctedBefore, 'an operator corrects what was told falsely');
  }
  if (rows.length === 1 && rows[0]?.mixesCallMany) assert(transcript.mixed > 0, 'calls were sent together');
  tally['came back'] += await countReturns(stage, asked);
  tally['renewed themselves'] += await countRenewals(stage, all);
  tally['ended by themselves'] += asked.size - decisions;
}

/** Lies about the victim's operations only: those that its requests have named. */
export function lie(liar: Liar, rows: readonly Row[], transcript: Transcript): void {
  const named = new Set<string>();
  const isAbout = (message: object): boolean => {
    const { merchantId, requestId = '', event } = message as Record<string, string> & { event?: never };
    if (event !== undefined) return named.has(subjectOf(event));
    if (merchantId === 'victim') named.add(requestId);
    return merchantId === 'victim';
  };
  liar.lie = transcript.noting(only(together(rows.map((row) => row.lie)), isAbout));
}

/** The other merchant gets its results at once. */
export async function calmly({ calm }: LiarsHouse): Promise<void> {
  const [hold, other] = [await calm.hold(), await calm.hold()];
  const answers = await Promise.all([calm.capture(hold, 10_000n), calm.release(other), calm.oct()]);
  const states = [answers[0].capture?.state, answers[1].state, answers[2].oct?.state];
  assert.deepEqual(states, [OperationState.OK, OperationState.OK, OperationState.OK], 'the other merchant waits');
}

/**
 * Time passes, the sandbox reports, and the worker does what is due. What fails in it must not keep the rest from being
 * done.
 */
export async function pass({ stage }: LiarsHouse, tally: Tally): Promise<void> {
  stage.clock.advance(STEP_HOURS * HOUR_MS);
  await stage.sandbox.reportDue();
  await judgeSums(stage);
  for (const work of [stage.inquire, stage.captureDue, stage.renewKept, stage.releaseRenewed, stage.expire]) {
    await work().catch(() => {
      tally['looks that failed']++;
    });
  }
}

/** Time passes after which an operation has its result, or an operator sees it. */
export async function passAllHolds(house: LiarsHouse, tally: Tally): Promise<void> {
  for (let hour = 0; hour < HOURS; hour += STEP_HOURS) await pass(house, tally);
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

async function countReturns(stage: Stage, asked: ReadonlySet<string>): Promise<number> {
  const text = `select from operation where kind in ('REFUND_RETURN', 'OCT_RETURN')
    and coalesce(refund_request_id, oct_request_id) = any($1::uuid[])`;
  return (await sql(stage, text, [[...asked]])).length;
}

async function countRenewals(stage: Stage, asked: ReadonlySet<string>): Promise<number> {
  const text = "select from operation where kind = 'RENEWAL' and status = 'OK' and request_id = any($1::uuid[])";
  return (await sql(stage, text, [[...asked]])).length;
}

export async function idsOf(stage: Stage): Promise<Set<string>> {
  const rows = await sql<{ id: string }>(
    stage,
    'select request_id as id from hold union select request_id from submission',
  );
  return new Set(rows.map(({ id }) => id));
}
