/** Plays a wave of runs side by side, lets everything settle, and checks the result. */
import assert from 'node:assert/strict';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Attempt, Fault } from './attempt.ts';
import { checkSubjects, ms } from './check.ts';
import type { Beat, Step } from './commands.ts';
import { deedsOf } from './happenings.ts';
import { hear, hearAll, tellPlacing } from './hear-model.ts';
import { type HoldModel, renewalOf } from './hold-model.ts';
import { voidReplaced } from './kept-model.ts';
import { predict } from './predict.ts';
import { tellTruth } from './processor-says.ts';
import { deliver, recover, sweep } from './recover-model.ts';
import { Run } from './run.ts';
import { type Crash, WORK } from './sent.ts';
import { tellRenewal } from './settle-model.ts';
import { distinct, placingsOf, renewalsOf, type Subject } from './subject.ts';
import type { World } from './world.ts';

const AWAY_MS = 8 * 24 * 3_600_000;

/** Plays the steps. Throws with the story of the first hold on which core, processor and model disagree. */
export async function playWave(world: World, steps: readonly Step[]): Promise<void> {
  const runs = (steps[0]?.commands ?? []).map(() => new Run(world));
  const subjects = () => runs.flatMap((run) => run.subjects);
  for (const { beat, crashes, commands } of steps) {
    await happen(world, subjects(), beat, crashes);
    for (const point of crashes) world.armed.add(point);
    const ended = await Promise.allSettled(
      runs.map((run, index) => run.step(commands[index] ?? assert.fail(), crashes)),
    );
    world.armed.clear();
    for (const step of ended) if (step.status === 'rejected') throw step.reason;
  }
  await comeToRest(world, subjects());
  await Promise.all(runs.flatMap((run) => run.waiting));
  await checkSubjects(world, subjects());
  for (const { possible } of subjects())
    for (const deed of deedsOf(possible[0] ?? assert.fail())) world.faults.happened(deed);
}

async function happen(world: World, subjects: readonly Subject[], beat: Beat, crashes: Step['crashes']): Promise<void> {
  const before = world.now();
  switch (beat.is) {
    case 'nothing':
      return;
    case 'jump':
      await world.pass(beat.ms);
      change(subjects, (hold) => hear(hold, world.now()));
      break;
    case 'sweep':
      await sweepOnce(world, subjects, beat.fault, crashes);
      break;
    case 'recover':
      world.mischief.lostInquiries = beat.lost;
      await recoverAll(world, subjects);
      break;
    case 'deliver':
      await deliverAll(world, subjects);
  }
  for (const subject of subjects) if (subject.possible.some(({ stepUp }) => stepUp)) await world.untilTold(subject);
  await readEnds(world, subjects, before);
  for (const subject of subjects) subject.story.push(JSON.stringify({ ...beat, now: world.now() }));
}

/** Changes every possible state. */
function change(subjects: readonly Subject[], change: (hold: HoldModel) => HoldModel[]): void {
  for (const subject of subjects) {
    subject.possible = distinct(subject.possible.flatMap((hold) => change(structuredClone(hold))));
  }
}

async function sweepOnce(
  world: World,
  subjects: readonly Subject[],
  fault: 'none' | 'lost before' | 'lost after' | 'other amount',
  crashes: Step['crashes'],
): Promise<void> {
  for (const [name, { job, played }] of Object.entries(JOBS)) {
    const deadly = crashes.filter((point) => point.startsWith(name));
    for (const point of deadly) world.armed.add(point);
    world.mischief.ownFault = fault;
    const died = await world.workOff(world.stage[job]);
    world.mischief.ownFault = 'none';
    world.armed.clear();
    const now = world.now();
    const ways: Crash[] = ['none'];
    if (died && deadly.some((point) => point.endsWith('stored'))) ways.push('stored');
    if (died && deadly.some((point) => point.endsWith('answered'))) ways.push('answered');
    for (const subject of subjects)
      change([subject], (hold) => ways.flatMap((crash) => played(structuredClone(hold), now, fault, crash, subject)));
  }
}

type Played = (hold: HoldModel, now: number, fault: Fault, crash: Crash, subject: Subject) => HoldModel[];

/** What workers do when something is due, by the crash points that they reach. The end of a hold is looked at last. */
const JOBS: Readonly<
  Record<
    string,
    {
      readonly job: 'releaseRenewed' | 'captureDue' | 'renewDue' | 'voidReplaced' | 'expire';
      readonly played: Played;
    }
  >
> = {
  release: {
    job: 'releaseRenewed',
    played: (hold, now, fault, crash, { renewal }) =>
      placingsOf(renewal).flatMap((placing) =>
        predict(hold, [{ ...WORK, do: 'release renewed', fault, crash, renewal: placing }], now).map(
          (each) => each.hold,
        ),
      ),
  },
  capture: {
    job: 'captureDue',
    played: (hold, now, fault, crash) =>
      predict(hold, [{ ...WORK, do: 'capture by itself', fault, crash }], now).map((each) => each.hold),
  },
  renewal: {
    job: 'renewDue',
    played: (hold, now, fault, crash) =>
      predict(hold, [{ ...WORK, do: 'renew kept', fault, crash }], now).map((each) => each.hold),
  },
  'void of what was replaced': {
    job: 'voidReplaced',
    played(hold, now) {
      voidReplaced(hold, now);
      return [hold];
    },
  },
  expiry: { job: 'expire', played: (hold, now, fault, crash) => [sweep(hold, now, fault, crash)] },
};

/** A minute later: pending events arrive, and recovery inquires about unknown outcomes. */
async function recoverAll(world: World, subjects: readonly Subject[]): Promise<void> {
  await world.pass(61_000);
  const began = world.now();
  await world.recover();
  world.mischief.lostInquiries = 0;
  change(subjects, (hold) => hear(hold, world.now()).flatMap((heard) => recover(heard, began, world.now())));
  // Recovery may have taken a while, in which a rejected event was reported again.
  change(subjects, (hold) =>
    hold.chain.every(({ endEvent }) => endEvent === 'NONE') ? [hold] : hear(hold, world.now()),
  );
}

async function deliverAll(world: World, subjects: readonly Subject[]): Promise<void> {
  await world.mischief.deliverLate();
  change(subjects, (hold) => [deliver(hold, world.now())]);
  for (const subject of subjects.filter(({ untold }) => untold)) {
    subject.untold = false;
    const entry = world.oracleOf(subject).find(subject.identifier);
    if (entry?.kind !== 'authorization') continue;
    world.faults.happened('late authorization told');
    await subject.tellTruth();
    change([subject], (hold) => [tellPlacing(hold, world.now())]);
  }
  for (const subject of subjects) await tellLateRenewals(world, subject);
}

/** The processor reports renewals that it was asked for, and that were told as declined before they arrived. */
async function tellLateRenewals(world: World, subject: Subject): Promise<void> {
  const isLate = ({ kind, answer, truth }: Pick<Attempt, 'kind' | 'answer' | 'truth'>) =>
    kind === 'RENEWAL' && answer?.code === 'too_slow' && truth?.answer === 'APPROVED';
  if (!subject.possible.some(({ attempts }) => attempts.some(isLate))) return;
  const identifiers = await renewalsOf(world, subject);
  for (const [index, identifier] of identifiers.entries()) {
    const of = (hold: HoldModel) => renewalOf(hold, index + 1);
    const isApproved = world.oracleOf(subject).find(identifier)?.answer === Answer.APPROVED;
    const mayBeLate = subject.possible.some((hold) => isLate(of(hold) ?? NONE));
    if (!isApproved || !mayBeLate || subject.told.has(identifier)) continue;
    subject.told.add(identifier);
    world.faults.happened('late renewal told');
    await tellTruth(world, subject, identifier);
    subject.story.push(`tell renewal ${index + 1}`);
    change([subject], (hold) => {
      const renewal = of(hold);
      return renewal?.truth?.answer === 'APPROVED' ? [tellRenewal(hold, renewal, world.now())] : [];
    });
    if (subject.possible.length === 0) subject.fail(`renewal ${index + 1} is approved`);
  }
}

const NONE = { kind: 'RENEWAL' } as const;

/**
 * A hold's expiry depends on when its result arrived, which the model knows only within bounds: it takes the exact time
 * from core.
 */
async function readEnds(world: World, subjects: readonly Subject[], before: number): Promise<void> {
  const unread = subjects.filter(({ possible }) =>
    possible.some(({ kind, placing, endRead }) => kind === 'HOLD' && placing === 'OK' && !endRead),
  );
  if (unread.length === 0) return;
  const rows = await world.sql<Record<keyof Times | 'requestId', string>>(TIMES, [
    unread.map(({ requestId }) => requestId),
  ]);
  const times = new Map(rows.map(({ requestId, ...row }) => [requestId, numbersOf(row)]));
  for (const subject of unread) {
    const read = times.get(subject.requestId);
    const story = subject.possible.map((hold) => JSON.stringify(timesOf(hold)));
    const longMs = world.now() - before;
    subject.possible = subject.possible.filter((hold) => readTimes(hold, read, longMs));
    if (subject.possible.length === 0) {
      subject.fail(`its times are ${JSON.stringify(read)}, not ${story.join(' or ')}, at most ${longMs} ms less`);
    }
  }
}

/** When a hold ends, until when it is guaranteed, and when it renews itself; 0 = never. */
type Times = Pick<HoldModel, 'expiresAt' | 'guaranteedUntil' | 'renewAt'>;

const timesOf = ({ expiresAt, guaranteedUntil, renewAt }: HoldModel): Times => ({
  expiresAt,
  guaranteedUntil,
  renewAt,
});

const numbersOf = (row: Record<keyof Times, string>) =>
  ({
    expiresAt: Number(row.expiresAt),
    guaranteedUntil: Number(row.guaranteedUntil),
    renewAt: Number(row.renewAt),
  }) satisfies Times;

const TIMES = `select request_id, ${ms('expires_at')} as expires_at, ${ms('guaranteed_until')} as guaranteed_until,
    ${ms('renew_at')} as renew_at
  from hold where request_id = any($1::uuid[])`;

/**
 * Returns whether the times of the hold may be these: its result arrived at most so many milliseconds ago. A hold that
 * is not placed has none, and one that has ended renews itself no more.
 */
function readTimes(hold: HoldModel, read: Times | undefined, longMs: number): boolean {
  if (hold.placing !== 'OK' || hold.endRead) return true;
  if (!read) return false;
  const modelled = timesOf(hold);
  const names = ['expiresAt', 'guaranteedUntil', 'renewAt'] as const;
  const told = names.map((name) => [name, read[name]] as const);
  const isOpen = hold.closedBy === undefined;
  const fits = ([name, at]: (typeof told)[number]) =>
    (name === 'renewAt' && !isOpen) || (at <= modelled[name] && at >= modelled[name] - longMs);
  if (!told.every(fits)) return false;
  Object.assign(hold, Object.fromEntries(told), { endRead: true });
  return true;
}

/** Most holds stay open until the end of the wave, so crash points of the sweep are reached there. */
function deadlySweep(subjects: readonly Subject[]): 'expiry stored' | 'expiry answered' {
  return subjects.length % 2 === 0 ? 'expiry stored' : 'expiry answered';
}

/** All requests arrive, all unknown outcomes are inquired about, all holds end. */
async function comeToRest(world: World, subjects: readonly Subject[]): Promise<void> {
  await happen(world, subjects, { is: 'deliver' }, []);
  for (let round = 0; round < 3; round++) {
    await happen(world, subjects, { is: 'recover', lost: 0 }, []);
    if (round === 0) await happen(world, subjects, { is: 'sweep', fault: 'none' }, []);
    await world.pass(AWAY_MS);
    change(subjects, (hold) => hear(hold, world.now()));
    await happen(world, subjects, { is: 'sweep', fault: 'none' }, round === 0 ? [deadlySweep(subjects)] : []);
  }
  for (
    let waits = 0;
    world.oracles.some((oracle) => oracle.events().some(({ reportedAtMs }) => reportedAtMs === null));
    waits++
  ) {
    assert(waits < 20, "core accepts the processor's events");
    await world.pass(31_000);
  }
  change(subjects, (hold) => [hearAll(hold, world.now())]);
}
