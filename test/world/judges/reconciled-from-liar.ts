/** What was lost while the processor lied, after it has become honest again. */
import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { beginReconciling, reconcilingSince } from '../../../services/core/storage/reconciling.ts';
import type { Decisions } from '../../services/core/reconciliation/decide.ts';
import { sql } from '../../services/core/shop.ts';
import { judge } from '../../torture/liar/judge.ts';
import { decideAll, emptyTally, OPEN } from '../../torture/liar/operator.ts';
import { calmly, idsOf, pass, passAllHolds } from '../../torture/liar/round.ts';
import type { KeyedCall, LiedTo } from '../merchants/keyed-calls.ts';
import { shown } from '../merchants/steps.ts';
import type { Scene } from '../play.ts';
import type { BehindLiar } from '../stage/behind-liar.ts';
import { chargesOf, decideSince, IMPORT_ALL, MOST_DECISIONS, refunds } from './reconciled-in-turns.ts';

/** How often an operator tries to reconcile while the processor lies. */
const LIED_TO = 2;

/**
 * While it lies, an operator's decision is carried out or refused in one line, and the other merchant gets all results at
 * once. Honest again, reconciling ends, a repeated key charges nothing again, what was truly done is answered as at
 * first, everything ends, and the lists tell what the processor's books hold or what it said.
 */
export async function reconciledFromLiar({ stage: house, merchants }: Scene<BehindLiar, LiedTo>): Promise<string> {
  const { rows, transcript, calls } = merchants.round ?? assert.fail('nothing went back');
  const { stage, liar } = house;
  const [tally, decided] = [emptyTally(), new Map<string, 'OK' | 'KO'>()];
  await beginReconciling(stage.recovery.database.query);
  // Books that lie are looked at only: what they say would be imported.
  const lied = rows.some(({ lie }) => lie.listEntries) ? { ending: false } : IMPORT_ALL;
  let refused = 0;
  for (let tries = 0; tries < LIED_TO; tries++) {
    await decideSince(stage, lied).catch(({ message }: Error) => {
      assert.match(message, /^.+$/, 'a refusal is one line');
      refused++;
    });
    await calmly(house);
    await pass(house, tally);
  }
  liar.lie = transcript.noting({});
  const accepting: string[] = [];
  for (let decisions = 1, left = 1; left > 0; decisions++) {
    try {
      const decide = (each: Decisions) => decideSince(stage, { ...each, accepting });
      const done = await decide(decisions % 2 === 0 ? await refunds(decide) : IMPORT_ALL);
      left = done.ended || !(await isReconciling(house)) ? done.left : 1;
    } catch (error) {
      const { message } = error as Error;
      assert(decisions < MOST_DECISIONS, `reconciling does not end: ${message}`);
      const undone = /not done there, such as ([^;]+);/.exec(message)?.[1]?.split(', ') ?? [];
      accepting.push(...(await correct(house, undone)));
    }
    if (left === 0) break;
    assert(decisions < MOST_DECISIONS, 'reconciling does not end');
    await pass(house, tally);
    await decideAll(house, decided, tally);
  }
  const asFirst = await repeat(house, calls, decided);
  merchants.answeredAsFirst += asFirst;
  await passAllHolds(house, tally);
  await decideAll(house, decided, tally);
  await passAllHolds(house, tally);
  await decideAll(house, decided, tally);
  await pass(house, tally);
  assert.deepEqual(await sql(stage, OPEN), [], 'nothing stays open once the processor is honest again');
  assert.deepEqual(await stage.audit('own books'), []);
  const areEventsTrue = rows.every(({ lie }) => lie.reportEvent === undefined);
  await judge(house, { transcript, asked: await idsOf(stage), decided, areEventsTrue, answered: new Map() });
  return `${refused} decisions refused while it lied, ${asFirst} of ${calls.length} keys truly done and answered as first`;
}

/**
 * Books with less than what was told as done are refused as another installation's. The processor may have taken it back
 * in an event that was lost, so the operator corrects it by the books. Returns what cannot be corrected: a hold, and what
 * something followed.
 */
async function correct({ operators }: BehindLiar, undone: readonly string[]): Promise<string[]> {
  const left: string[] = [];
  for (const requestId of undone) {
    const correction = { requestId, outcome: OperationState.KO, reason: 'their books have none' };
    await operators.correctOperation(correction).catch(({ code }) => {
      assert([status.FAILED_PRECONDITION, status.NOT_FOUND].includes(code), `${code}`);
      left.push(requestId);
    });
  }
  return left;
}

/** Some lies leave nothing that is truly done; not all of them do. */
export async function someAnsweredAsFirst({ merchants }: Scene<BehindLiar, LiedTo>): Promise<string> {
  assert(merchants.answeredAsFirst > 0, 'nothing was truly done, so nothing is shown');
  return `${merchants.answeredAsFirst} keys truly done and answered as first`;
}

const isReconciling = async ({ stage }: BehindLiar) =>
  (await reconcilingSince(stage.recovery.database.query)) !== undefined;

/** What the processor has done, whatever it said, is not charged again. Returns how many are answered as at first. */
async function repeat(
  { stage }: BehindLiar,
  calls: readonly KeyedCall[],
  decided: ReadonlyMap<string, 'OK' | 'KO'>,
): Promise<number> {
  let asFirst = 0;
  for (const { label, first, again } of calls) {
    const [before, charged] = [await first, chargesOf(stage)];
    const entry = stage.oracle.entries().find((each) => each.operationRequestId === before.requestId);
    const answer = await again();
    const what = `${label} was ${shown(before)}, repeated ${shown(answer)}`;
    // What the processor has not done may be done now.
    const isDone = entry?.answer === Answer.APPROVED || entry?.answer === Answer.ACCEPTED;
    if (isDone) assert.deepEqual(chargesOf(stage), charged, `charged again: ${what}`);
    if (!isDone || before.state !== OperationState.OK || decided.has(before.requestId ?? '')) continue;
    assert.deepEqual([answer.requestId, answer.state], [before.requestId, before.state], `answered otherwise: ${what}`);
    asFirst++;
  }
  return asFirst;
}
