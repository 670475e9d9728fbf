/** Random operations, a restore to a random moment among them, and an operator who decides about what was lost. */
import assert from 'node:assert/strict';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { beginReconciling } from '../../services/core/storage/reconciling.ts';
import { type Decisions, decideAt } from '../services/core/reconciliation/decide.ts';
import { openMerchant } from '../services/core/shop.ts';
import { openStage, type Stage } from '../services/core/stage.ts';
import { rememberBeginning, rememberNow } from '../services/core/time-machine.ts';
import { chance } from './chance.ts';
import type { TortureOptions } from './options.ts';
import { MOVING, openStory, type Step, type Story, shown } from './restores/story.ts';

/** How often each step is drawn, of 54 times. */
const SHARES: Readonly<Record<Step, number>> = {
  hold: 6,
  checkout: 3,
  pay: 5,
  capture: 10,
  release: 3,
  increment: 3,
  extend: 2,
  renew: 2,
  refund: 4,
  oct: 1,
  move: 1,
  wait: 3,
  events: 3,
  inquire: 2,
  expire: 2,
  captureDue: 2,
  releaseRenewed: 2,
};
const ALL = (Object.keys(SHARES) as Step[]).flatMap((step) => Array<Step>(SHARES[step]).fill(step));
/**
 * Steps while lost operations are done, where the restore is noticed only after results of a later time. The processors'
 * books are read since an hour before the newest result, so no time may pass from the restored moment on.
 */
const TIMELESS = ALL.filter((step) => step !== 'wait');
/** Steps between a restore and its notice. */
const UNNOTICED: readonly Step[] = [
  ...(['events', 'inquire', 'expire', 'captureDue', 'pay'] as const),
  ...(['capture', 'capture', 'release', 'increment', 'extend', 'refund'] as const),
];
/** Steps while an operator reconciles. */
const MEANWHILE: readonly Step[] = ['wait', ...UNNOTICED];
/** Most calls meanwhile have no key: one with a key is refused. */
const KEYED_MEANWHILE = 0.4;

/** From this decision on, everything that is under way ends before the next. */
const PATIENT_DECISIONS = 8;
const MOST_DECISIONS = 16;
/** Before everything: a processor's books that begin after the restored moment have nothing of ours. */
const EARLIER = new Date(Date.UTC(2026, 0, 1));
/** Longer than any hold lasts. */
const ALL_HOLDS_MS = 9 * 86_400_000;

/**
 * Plays rounds, each with the next seed. Returns figures. Throws with the seed and the story of a round in which
 * reconciling does not end, the audit finds something, a repeated call charges again, or one that succeeded is answered
 * otherwise.
 */
export async function tortureRestores({ seed, runs = 150, tell }: TortureOptions): Promise<string[]> {
  const stage = await openStage({ second: 'second' });
  let calls = 0;
  try {
    const terms = { processor: 'first', webhookUrl: 'https://staying.example/hooks', notifyHolds: true };
    const staying = await openMerchant(stage, 'staying', terms);
    const moving = await openMerchant(stage, 'moving', { ...MOVING, processor: 'second' });
    const beginAnew = await rememberBeginning(stage);
    for (let round = 0; round < runs; round++) {
      const random = chance(seed + round);
      const story = openStory(stage, staying, moving, random);
      await playRound(stage, story, random).catch((cause) => {
        const lines = [`seed ${seed + round}: ${(cause as Error).message}`, ...story.lines];
        throw new Error(lines.join('\n'), { cause });
      });
      calls += story.deeds.length;
      tell?.(`seed ${seed + round}: ${story.deeds.length} calls`);
      await beginAnew();
    }
  } finally {
    await stage.close();
  }
  return [`${runs} restores amid ${calls} calls: each reconciling ended, the books agree, nothing was charged again`];
}

async function playRound(stage: Stage, story: Story, random: () => number): Promise<void> {
  const { play, steps, say } = story;
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  await story.begin();
  await play(2 + upTo(5), ALL);
  await steps.events();
  const goBack = await rememberNow(stage);
  say('--- the moment to which the database goes back');
  const isNoticedLater = random() < 0.2;
  await play(2 + upTo(7), isNoticedLater ? TIMELESS : ALL);
  await steps.events();
  const lost = story.deeds.length;
  await goBack();
  say('--- it went back');
  if (isNoticedLater) await play(upTo(3), UNNOTICED, KEYED_MEANWHILE);
  await reconcile(stage, story, random);
  await repeat(stage, story, lost);
  if (random() < 0.4) {
    await steps.events();
    await goBack();
    say('--- it went back again');
    await reconcile(stage, story, random);
    await repeat(stage, story, lost);
  }
  stage.clock.advance(ALL_HOLDS_MS);
  for (const _ of ['holds', 'checkouts that were paid late']) {
    await stage.expire();
    await settle(stage, story);
  }
  assert.deepEqual(await stage.audit(), [], 'the audit after the end of all holds');
}

const IMPORT_ALL: Decisions = { importing: ['all'] };

/** Imports everything, or some of it by name first, in random turns, until reconciling ends. */
async function reconcile(stage: Stage, { pick, play, say, steps }: Story, random: () => number): Promise<void> {
  await beginReconciling(stage.recovery.database.query);
  say('--- reconciling begins');
  const meanwhile = () => play(Math.floor(random() * 4), MEANWHILE, KEYED_MEANWHILE);
  await meanwhile();
  const decide = async (decisions: Decisions) => {
    const done = await decideAt(stage, decisions).catch((error: Error) => {
      if (!error.message.startsWith('nothing of ours')) throw error;
      return decideAt(stage, decisions, undefined, EARLIER);
    });
    say([`${JSON.stringify(decisions)}: ${done.ended ? 'ended' : `${done.left} left`}`, ...done.lines].join('\n    '));
    return done;
  };
  /** Some of what is unknown, as an operator names it; what cannot be imported is refunded. */
  const named = async (): Promise<Decisions> => {
    const { report } = await decide({ ending: false });
    const ids = [...new Set(report.map(({ processorRequestId }) => processorRequestId))];
    return { importing: ids.filter(() => random() < 0.5) };
  };
  const refunds = async (): Promise<Decisions> => {
    const { report } = await decide({ ...IMPORT_ALL, ending: false });
    const left = report.filter(({ note }) => note?.endsWith('HOLD_NOT_PLACED'));
    return { refunding: left.map(({ processorRequestId }) => processorRequestId) };
  };
  for (let decided = 1; ; decided++) {
    const isPatient = decided < PATIENT_DECISIONS / 2;
    const decisions = isPatient
      ? pick([IMPORT_ALL, IMPORT_ALL, await named()])
      : decided % 2 === 0
        ? IMPORT_ALL
        : await refunds();
    const { ended } = await decide(decisions);
    if (ended) break;
    assert(decided < MOST_DECISIONS, 'reconciling does not end');
    if (decided >= PATIENT_DECISIONS) {
      await settle(stage, { steps });
      continue;
    }
    if (random() < 0.3) await meanwhile();
    stage.clock.advance(pick([1_000, 61_000]));
    if (random() < 0.7) await steps.events();
    await steps.inquire();
  }
  await stage.expire();
  await settle(stage, { steps });
  assert.deepEqual(await stage.audit(), [], 'the audit after reconciling');
}

/** Repeats what was called before the restore: what succeeded is answered as then, and nothing is charged again. */
async function repeat(stage: Stage, { deeds, steps }: Pick<Story, 'deeds' | 'steps'>, lost: number): Promise<void> {
  for (const { label, first, again } of deeds.slice(0, lost)) {
    const charged = chargesOf(stage);
    const answer = await again();
    const what = `${label} was ${shown(first)}, repeated ${shown(answer)}`;
    // What was refused may be done now.
    if (!first.refused) assert.deepEqual(chargesOf(stage), charged, `charged again: ${what}`);
    // A release that cancelled an open checkout left nothing in the processor's books to import.
    const wasCancelled = ['HOLD_NOT_PLACED', 'PREAUTHORIZATION_NOT_FOUND'].includes(answer.refused ?? '');
    if (first.state !== OperationState.OK || (label.startsWith('release') && wasCancelled)) continue;
    assert.deepEqual([answer.requestId, answer.state], [first.requestId, first.state], `answered otherwise: ${what}`);
  }
  await settle(stage, { steps });
  assert.deepEqual(await stage.audit(), [], 'the audit after everything was repeated');
}

/** Lets twelve minutes pass, in which all that is under way gets its result. */
async function settle(stage: Stage, { steps }: Pick<Story, 'steps'>): Promise<void> {
  for (let minute = 0; minute < 12; minute++) {
    stage.clock.advance(61_000);
    await steps.events();
    await steps.inquire();
  }
}

/** What a customer pays or is paid, by the books of both processors. */
function chargesOf({ oracle, second }: Stage): string[] {
  return [oracle, second?.oracle]
    .flatMap((ledger) => ledger?.entries() ?? [])
    .filter(({ kind, answer }) => answer === Answer.APPROVED && kind !== 'void' && kind !== 'fence')
    .map(({ kind, requestId }) => `${kind} ${requestId}`);
}
