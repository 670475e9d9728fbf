/** The tortures that are lines of the world, by name. */
import { type Deployment, openDeployment } from '../torture/deployment/deployment.ts';
import { backendsTerminated, backendsTerminatedForAWhile, readOnly, serverRestarted } from './faults/database.ts';
import { disturbances } from './faults/disturbances.ts';
import { liedAndRestored } from './faults/lied-and-restored.ts';
import { link } from './faults/links.ts';
import { overloadByOne, overloadByOthers, streamsDropped } from './faults/load.ts';
import { momentRestored } from './faults/moment-restored.ts';
import { PRIMARY_FAULTS } from './faults/primary.ts';
import { beyondFinal, frozen, killed } from './faults/processes.ts';
import { databaseAway, killedInBatch } from './faults/relay.ts';
import { otherRelease, schemaUpgraded } from './faults/release.ts';
import { rowsLocked } from './faults/rows-locked.ts';
import { streamCut } from './faults/stream-cut.ts';
import { waysBack } from './faults/ways-back.ts';
import { audited } from './judges/audited.ts';
import { answeredAgain, charged } from './judges/bought.ts';
import { forwarded, unaltered, undeprecated } from './judges/forwarded.ts';
import { kept } from './judges/kept.ts';
import { deliveryStored, notified } from './judges/notified.ts';
import { obeyed, obeyedSoFar, sentOnce } from './judges/obeyed.ts';
import { reconciled } from './judges/reconciled.ts';
import { reconciledFromLiar, someAnsweredAsFirst } from './judges/reconciled-from-liar.ts';
import { reconciledInTurns } from './judges/reconciled-in-turns.ts';
import { renewed } from './judges/renewed.ts';
import { served } from './judges/served.ts';
import { settled } from './judges/settled.ts';
import { streamsWhole } from './judges/streams-whole.ts';
import { unhindered } from './judges/unhindered.ts';
import { type Buyers, startBuyers } from './merchants/buyers.ts';
import { openCustomers } from './merchants/customers.ts';
import type { LiedTo } from './merchants/keyed-calls.ts';
import { openNeighbours } from './merchants/neighbour.ts';
import { openSender } from './merchants/notification-sender.ts';
import { OBEDIENT, type Obedient, type Obeying, startObedient } from './merchants/obedient.ts';
import { type Watched, watchEach, watchResults } from './merchants/result-watcher.ts';
import type { Steppers } from './merchants/steps.ts';
import { startWriters } from './merchants/writers.ts';
import { type Fault, lineOf } from './play.ts';
import { type BehindLiar, openBehindLiar } from './stage/behind-liar.ts';
import { type OneCore, openOneCore } from './stage/one-core.ts';
import { openPair, type Pair } from './stage/pair.ts';
import { openRelay, type Relay } from './stage/relay.ts';
import { openTwoCores, type TwoCores } from './stage/two-cores.ts';
import { openTwoProcessors, type TwoProcessors } from './stage/two-processors.ts';
import { openTwoReleases, type TwoReleases } from './stage/two-releases.ts';

const BUYERS = 12;
const WRITERS = 8;
/** From this number of kills on, a line waits for what takes long, and sends much. */
const LONG = 20;
/** Notifications of a batch: 10 000 for 50 kills. */
const LONG_BATCH = 200;
const SHORT_BATCH = 75;

const ONE_CORE = { stage: openOneCore, merchants: (stage: OneCore) => startBuyers(stage, BUYERS) };
const NOTHING_LOST_OR_TWICE = [settled, answeredAgain, charged, audited, deliveryStored] as const;

const core1 = ({ cores }: Deployment) => cores[0] as Deployment['cores'][number];
const core2 = ({ cores }: Deployment) => cores[1] as Deployment['cores'][number];
const worker = (stage: Deployment) => stage.worker;
const gateway = (stage: Deployment) => stage.gateway;
const killedCore = killed('core', core1);
const killedWorker = killed('worker', worker);

/** Core and, every third time, the worker are killed under load. */
export const crash = lineOf<OneCore, Buyers>({
  ...ONE_CORE,
  rounds: 50,
  phases: (rounds) => [{ faults: [killedCore, killedCore, killedWorker], times: rounds }],
  judges: (rounds) => [...NOTHING_LOST_OR_TWICE, ...(rounds >= LONG ? [notified] : [])],
});

/** Backends are terminated and the server is restarted under load; core serves again within a time. */
export const database = (readyWithinMs = 5_000) =>
  lineOf({
    ...ONE_CORE,
    rounds: 30,
    phases: (rounds) => [
      { faults: [backendsTerminated(readyWithinMs)], times: rounds },
      { faults: [serverRestarted(readyWithinMs)], times: 2 },
    ],
    judges: () => NOTHING_LOST_OR_TWICE,
  });

/** A watcher is cut while two cores write, and resumes each time at the other one. */
export const streams = lineOf<TwoCores, Watched>({
  stage: openTwoCores,
  merchants: async (stage) => {
    const watcher = await watchResults(...[0, 1].map((index) => stage.channel('internal', index).opened));
    return { ...startWriters(stage, WRITERS), watchers: [watcher] };
  },
  rounds: 200,
  phases: (rounds) => [{ faults: [streamCut], times: rounds }],
  judges: () => [streamsWhole],
});

const RELAY_MEMBERS: Readonly<Record<string, (stage: Relay) => Relay['worker']>> = {
  core: core1,
  gateway,
  worker,
};

/** Core, relay and worker are killed, and the database stopped, while notifications go to a receiver that fails. */
export const notifications = lineOf({
  stage: (rounds, random) => openRelay(rounds >= LONG ? 3 : 1, random),
  merchants: ({ baseUrl, merchant }, random) => openSender({ baseUrl, merchant, random }),
  rounds: 50,
  phases(rounds) {
    const batch = rounds >= LONG ? LONG_BATCH : SHORT_BATCH;
    const kills = Object.entries(RELAY_MEMBERS).map(([name, memberOf]) => killedInBatch(name, memberOf, batch));
    return [
      { faults: kills, times: rounds },
      { faults: [databaseAway(SHORT_BATCH)], times: 1 },
    ];
  },
  judges: () => [forwarded, unaltered, undeprecated],
});

/** How long a process is away that was killed, at most, beside its start. */
const AWAY_MS = 8_000;

/** Faults that do not break connections of merchants. */
const FAULTS: readonly Fault<Deployment, Obedient>[] = [
  frozen('database', ({ database }) => database),
  killed('database', ({ database }) => database, AWAY_MS),
  backendsTerminatedForAWhile,
  readOnly,
  frozen('core-1', core1),
  frozen('core-2', core2),
  beyondFinal(frozen('core-1', core1)),
  killed('core-1', core1, AWAY_MS),
  killed('core-2', core2, AWAY_MS),
  frozen('worker', worker),
  killed('worker', worker, AWAY_MS),
  frozen('sandbox', ({ sandbox }) => sandbox),
  killed('sandbox', ({ sandbox }) => sandbox, AWAY_MS),
  frozen('gateway', gateway),
  link('cut'),
  link('stalled'),
  beyondFinal(link('stalled')),
  overloadByOthers,
  overloadByOne,
  rowsLocked(1),
  rowsLocked(2),
  streamsDropped,
];
/** Breaks connections of merchants, who then need a key to repeat under. */
const KEYED_FAULTS = [...FAULTS, killed('gateway', gateway, AWAY_MS)];

export const NOTHING_DISOBEYED = { judges: () => [settled, obeyed, kept, audited] } as const;

/** Everything between merchants who obey every answer and the card is frozen, killed, cut and overloaded. */
function obedientBy(by: Obeying, rounds = 50) {
  return lineOf({
    ...NOTHING_DISOBEYED,
    stage: () => openDeployment(OBEDIENT),
    merchants: (stage, random) => startObedient(stage, by, random),
    rounds,
    phases: (times) => {
      const faults = by === 'table' ? FAULTS : KEYED_FAULTS;
      return [{ faults, times, atOnce: 3, afterEach: [served, obeyedSoFar] }];
    },
  });
}

export const obedient = obedientBy('package');
export const obedientPython = obedientBy('python', 10);
export const obedientKeyed = obedientBy('keyed table');
export const obedientUnkeyed = obedientBy('table');

/** The database's machine is lost under load, and its standby promoted. */
export const failover = lineOf<Pair, Obedient & Watched>({
  stage: () => openPair(OBEDIENT),
  merchants: async (stage, random) => {
    const watchers = await watchEach(stage);
    return { ...(await startObedient(stage, 'table', random)), watchers };
  },
  rounds: 10,
  phases: (times) => [{ faults: PRIMARY_FAULTS, times, atOnce: 1, afterEach: [served, obeyedSoFar] }],
  judges: () => [settled, obeyed, kept, deliveryStored, notified, streamsWhole, audited],
});

/** The same while merchants do nothing but renew their holds again and again. */
export const failoverRenewals = lineOf<Pair, Obedient>({
  stage: () => openPair(OBEDIENT),
  merchants: (stage, random) => startObedient(stage, 'package', random, { renewsOnly: true }),
  rounds: 10,
  phases: (times) => [{ faults: PRIMARY_FAULTS, times, atOnce: 1, afterEach: [served, obeyedSoFar] }],
  judges: () => [settled, obeyed, renewed, deliveryStored, notified, audited],
});

const RELEASES: readonly Fault<TwoReleases, Obedient>[] = [
  otherRelease('core-1', core1),
  otherRelease('core-2', core2),
  otherRelease('worker', worker),
  otherRelease('gateway', gateway),
];
/** A new gateway never calls an old core, which would ignore what it does not know. */
const THERE_AND_BACK = [...RELEASES, ...RELEASES.toReversed()];
const killedOrFrozen = (name: string, memberOf: (stage: Deployment) => Deployment['worker']) => [
  killed(name, memberOf, AWAY_MS),
  frozen(name, memberOf),
];

/** The release before and this tree run side by side: upgraded, taken back, then mixed at random while parts fail. */
export const upgrade = lineOf<TwoReleases, Obedient>({
  stage: () => openTwoReleases(OBEDIENT),
  merchants: (stage, random) =>
    startObedient(stage, 'package', random, { sendsNewFields: false, asksCustomers: false }),
  rounds: THERE_AND_BACK.length + 12,
  phases: (rounds) => [
    { faults: [schemaUpgraded], times: 1 },
    { faults: THERE_AND_BACK, times: Math.min(rounds, THERE_AND_BACK.length), afterEach: [obeyedSoFar, sentOnce] },
    {
      faults: [
        ...RELEASES,
        ...killedOrFrozen('core-1', core1),
        ...killedOrFrozen('core-2', core2),
        ...killedOrFrozen('worker', worker),
        backendsTerminatedForAWhile,
      ],
      times: Math.max(0, rounds - THERE_AND_BACK.length),
      atOnce: 3,
      afterEach: [served, obeyedSoFar],
    },
  ],
  judges: () => [settled, obeyed, deliveryStored, notified, audited],
});

/** What one merchant's trouble costs another. */
export const neighbours = lineOf({
  stage: () => openDeployment({ neighbour: true, noisy: true }, { withGatewayBeside: true }),
  merchants: openNeighbours,
  rounds: disturbances.length,
  phases: (times) => [{ faults: disturbances, times }],
  judges: () => [unhindered],
});

/** The database goes back in time under load, and what it lost is reconciled. */
export const restore = lineOf({
  stage: () =>
    openPair({ ann: true, bob: false }, { withOtherProcessor: true, environment: { SYNCHRONOUS_STANDBY: 'false' } }),
  merchants: openCustomers,
  rounds: 6,
  phases: (times) => [{ faults: waysBack, times, afterEach: [reconciled] }],
  judges: () => [settled, audited],
});

/** The database of a core goes back to random moments amid random operations, and an operator decides in turns. */
export const restores = lineOf<TwoProcessors, Steppers>({
  stage: openTwoProcessors,
  merchants: () => ({ stop: async () => undefined }),
  rounds: 150,
  phases: (times) => [{ faults: [momentRestored], times, afterEach: [reconciledInTurns] }],
  judges: () => [],
});

/** The same while the processor lies; it becomes honest before the operator is done. */
export const liarRestored = lineOf<BehindLiar, LiedTo>({
  stage: openBehindLiar,
  merchants: () => ({ answeredAsFirst: 0, stop: async () => undefined }),
  rounds: 80,
  phases: (times) => [{ faults: [liedAndRestored], times, afterEach: [reconciledFromLiar] }],
  judges: () => [someAnsweredAsFirst],
});
