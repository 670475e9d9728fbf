/** What was lost with a random moment, while an operator decides about it in turns and operations go on. */
import assert from 'node:assert/strict';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { beginReconciling } from '../../../services/core/storage/reconciling.ts';
import { type Decisions, decideAt } from '../../services/core/reconciliation/decide.ts';
import type { Stage } from '../../services/core/stage.ts';
import { type Deed, type Step, type Steppers, type Story, shown, UNNOTICED } from '../merchants/steps.ts';
import type { Scene } from '../play.ts';
import type { TwoProcessors } from '../stage/two-processors.ts';

/** Steps while an operator reconciles. */
const MEANWHILE: readonly Step[] = ['wait', ...UNNOTICED];

/** From this decision on, everything that is under way ends before the next. */
const PATIENT_DECISIONS = 8;
export const MOST_DECISIONS = 16;
/** Before everything: a processor's books that begin after the restored moment have nothing of ours. */
const EARLIER = new Date(Date.UTC(2026, 0, 1));
/** Longer than any hold lasts. */
const ALL_HOLDS_MS = 9 * 86_400_000;

/**
 * Reconciling ends, the audit is clean, a repeated call does not charge again, and one that succeeded is answered as at
 * first; two times in five also after the same moment was restored once more.
 */
export async function reconciledInTurns({ stage, merchants }: Scene<TwoProcessors, Steppers>): Promise<string> {
  const { story, goBack, before } = merchants.round ?? assert.fail('nothing went back');
  return story.explain(async () => {
    await reconcile(stage, story);
    let asFirst = await repeat(stage, story, before);
    if (story.random() < 0.4) {
      await story.steps.events();
      await goBack();
      story.say('--- it went back again');
      await reconcile(stage, story);
      asFirst += await repeat(stage, story, before);
    }
    assert(asFirst > 0, 'nothing was repeated, so nothing is shown');
    stage.clock.advance(ALL_HOLDS_MS);
    for (const _ of ['holds', 'checkouts that were paid late']) {
      await stage.expire();
      await settle(stage, story);
    }
    assert.deepEqual(await stage.audit(), [], 'the audit after the end of all holds');
    return `${story.deeds.length} calls, ${asFirst} repeated and answered as first`;
  });
}

export const IMPORT_ALL: Decisions = { importing: ['all'] };

/** Imports everything, or some of it by name first, in random turns, until reconciling ends. */
async function reconcile(stage: TwoProcessors, { pick, play, say, steps, random }: Story): Promise<void> {
  await beginReconciling(stage.recovery.database.query);
  say('--- reconciling begins');
  const meanwhile = () => play(Math.floor(random() * 4), MEANWHILE, 'some keyed');
  await meanwhile();
  const decide = async (decisions: Decisions) => {
    const done = await decideSince(stage, decisions);
    say([`${JSON.stringify(decisions)}: ${done.ended ? 'ended' : `${done.left} left`}`, ...done.lines].join('\n    '));
    return done;
  };
  /** Some of what is unknown, as an operator names it; what cannot be imported is refunded. */
  const named = async (): Promise<Decisions> => {
    const { report } = await decide({ ending: false });
    const ids = [...new Set(report.map(({ processorRequestId }) => processorRequestId))];
    return { importing: ids.filter(() => random() < 0.5) };
  };
  for (let decided = 1; ; decided++) {
    const isPatient = decided < PATIENT_DECISIONS / 2;
    const decisions = isPatient
      ? pick([IMPORT_ALL, IMPORT_ALL, await named()])
      : decided % 2 === 0
        ? IMPORT_ALL
        : await refunds(decide);
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

/** Decides about what was lost, since a time at which the books have something of ours. */
export async function decideSince(stage: Stage, decisions: Decisions) {
  return decideAt(stage, decisions).catch((error: Error) => {
    if (!error.message.startsWith('nothing of ours')) throw error;
    return decideAt(stage, decisions, undefined, EARLIER);
  });
}

/** Imports everything, and refunds what cannot be imported. */
export async function refunds(decide: (decisions: Decisions) => ReturnType<typeof decideAt>): Promise<Decisions> {
  const { report } = await decide({ ...IMPORT_ALL, ending: false });
  const left = report.filter(({ note }) => note?.endsWith('HOLD_NOT_PLACED'));
  return { refunding: left.map(({ processorRequestId }) => processorRequestId) };
}

/**
 * Repeats what was called before the restore: what succeeded is answered as then, and nothing is charged again. Returns
 * how much succeeded.
 */
async function repeat(stage: TwoProcessors, { steps }: Story, deeds: readonly Deed[]): Promise<number> {
  let asFirst = 0;
  for (const { label, first, again } of deeds) {
    const charged = chargesOf(stage);
    const answer = await again();
    const what = `${label} was ${shown(first)}, repeated ${shown(answer)}`;
    // What was refused may be done now.
    if (!first.refused) assert.deepEqual(chargesOf(stage), charged, `charged again: ${what}`);
    // A release that cancelled an open checkout left nothing in the processor's books to import.
    const wasCancelled = ['HOLD_NOT_PLACED', 'PREAUTHORIZATION_NOT_FOUND'].includes(answer.refused ?? '');
    if (first.state !== OperationState.OK || (label.startsWith('release') && wasCancelled)) continue;
    assert.deepEqual([answer.requestId, answer.state], [first.requestId, first.state], `answered otherwise: ${what}`);
    asFirst++;
  }
  await settle(stage, { steps });
  assert.deepEqual(await stage.audit(), [], 'the audit after everything was repeated');
  return asFirst;
}

/** Lets twelve minutes pass, in which all that is under way gets its result. */
async function settle(stage: TwoProcessors, { steps }: Pick<Story, 'steps'>): Promise<void> {
  for (let minute = 0; minute < 12; minute++) {
    stage.clock.advance(61_000);
    await steps.events();
    await steps.inquire();
  }
}

/** What a customer pays or is paid, by the books of both processors. */
export function chargesOf({ oracle, second }: Pick<Stage, 'oracle' | 'second'>): string[] {
  return [oracle, second?.oracle]
    .flatMap((ledger) => ledger?.entries() ?? [])
    .filter(({ kind, answer }) => answer === Answer.APPROVED && kind !== 'void' && kind !== 'fence')
    .map(({ kind, requestId }) => `${kind} ${requestId}`);
}
