/** The tortures that are lines of the world, by name. */
import { backendsTerminated, serverRestarted } from './faults/database.ts';
import { killed } from './faults/killed.ts';
import { databaseAway, killedInBatch } from './faults/relay.ts';
import { streamCut } from './faults/stream-cut.ts';
import { audited } from './judges/audited.ts';
import { answeredAgain, charged } from './judges/bought.ts';
import { forwarded, unaltered, undeprecated } from './judges/forwarded.ts';
import { deliveryStored, notified } from './judges/notified.ts';
import { settled } from './judges/settled.ts';
import { streamWhole } from './judges/stream-whole.ts';
import { startBuyers } from './merchants/buyers.ts';
import { openSender } from './merchants/notification-sender.ts';
import { startWatched } from './merchants/watcher.ts';
import { lineOf } from './play.ts';
import { type OneCore, openOneCore } from './stage/one-core.ts';
import { openRelay, type Relay } from './stage/relay.ts';
import { openTwoCores } from './stage/two-cores.ts';

const BUYERS = 12;
const WRITERS = 8;
/** From this number of kills on, a line waits for what takes long, and sends much. */
const LONG = 20;
/** Notifications of a batch: 10 000 for 50 kills. */
const LONG_BATCH = 200;
const SHORT_BATCH = 75;

const ONE_CORE = { stage: openOneCore, merchants: (stage: OneCore) => startBuyers(stage, BUYERS) };
const NOTHING_LOST_OR_TWICE = [settled, answeredAgain, charged, audited, deliveryStored] as const;

const killedCore = killed('core', ({ cores: [core] }) => core as OneCore['cores'][number]);
const killedWorker = killed('worker', ({ worker }) => worker);

/** Core and, every third time, the worker are killed under load. */
export const crash = lineOf({
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
export const streams = lineOf({
  stage: openTwoCores,
  merchants: (stage) => startWatched(stage, WRITERS),
  rounds: 200,
  phases: (rounds) => [{ faults: [streamCut()], times: rounds }],
  judges: () => [streamWhole],
});

const RELAY_MEMBERS: Readonly<Record<string, (stage: Relay) => Relay['worker']>> = {
  core: ({ cores: [core] }) => core as Relay['cores'][number],
  gateway: ({ gateway }) => gateway,
  worker: ({ worker }) => worker,
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
