/** The ways in which a database's machine is lost. */
import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresPair } from '../../torture/failover/postgres-pair.ts';
import { untilServing } from '../judges/served.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Fault, Scene } from '../play.ts';
import type { Pair } from '../stage/pair.ts';

/** Loses the primary. Returns how to bring it back, as far as possible, and what happened. */
type Lose = (pair: PostgresPair, forMs: number) => Promise<Lost>;

interface Lost {
  readonly wake: () => void;
  readonly what?: string;
  /**
   * It may come back, so an orchestrator waits until its leader key has expired and its statements have been given up.
   */
  readonly isUncertain?: boolean;
}

const WAYS_TO_LOSE: Readonly<Record<string, Lose>> = {
  async killed(pair) {
    await pair.primary().member.kill();
    return { wake: () => undefined };
  },
  /** The kernel accepts connections, and nothing answers. */
  async frozen(pair) {
    return { wake: await pair.primary().member.freeze(), isUncertain: true };
  },
  /** Packets are dropped: connections stay open on both sides. */
  async silent(pair) {
    const { server, wire } = pair.primary();
    for (const link of [server, wire, pair.balancer]) link.stall();
    return {
      isUncertain: true,
      wake() {
        for (const link of [server, wire]) link.mend();
      },
    };
  },
  /** Commits wait, and are never confirmed. */
  async 'cut off from its standby, then killed'(pair, forMs) {
    const { member, wire } = pair.primary();
    wire.cut();
    await delay(forMs);
    const waiting = await pair.waitingCommits();
    await member.kill();
    return { wake: () => undefined, what: `cut off for ${forMs.toFixed(0)} ms, ${waiting} commits waited` };
  },
};

/**
 * Loses the primary and acts as an orchestrator: notices after a while, promotes the standby, redirects clients, stops
 * the old primary when it comes back, and makes it the new standby. Clients that know both servers can reach the old
 * one for a moment after it has come back.
 */
const primaryLost = Object.entries(WAYS_TO_LOSE).map(
  ([name, lose]): Fault<Pair, Obedient> => ({
    name: `primary ${name}`,
    target: 'database',
    longestMs: 4_000,
    async strike(scene, durationMs) {
      const { pair } = scene.stage;
      const old = pair.primary();
      const before = scene.merchants.caller.inFlight();
      const { wake, what, isUncertain } = await lose(pair, durationMs);
      const noticedMs = isUncertain ? KEY_MS + durationMs : durationMs;
      await delay(noticedMs);
      await pair.promote();
      const served = await untilServed(scene);
      wake();
      await delay(OLD_ONE_IS_BACK_MS);
      await old.member.kill();
      await pair.rebuild();
      const how = what ?? `noticed after ${noticedMs.toFixed(0)} ms`;
      return { what: `${before} calls in flight, ${how}, ${served} after the promotion` };
    },
  }),
);

/**
 * The standby is unreachable for longer than a statement may take; nothing is promoted, and the waiting commits are
 * confirmed in the end.
 */
const standbyMissed: Fault<Pair, Obedient> = {
  name: 'standby out of reach',
  target: 'database',
  shortestMs: 9_000,
  longestMs: 15_000,
  async strike(scene, durationMs) {
    const { pair } = scene.stage;
    const before = scene.merchants.caller.inFlight();
    const { wire } = pair.primary();
    wire.cut();
    await delay(durationMs);
    const waiting = await pair.waitingCommits();
    wire.mend();
    const served = await untilServed(scene);
    const away = `away for ${durationMs.toFixed(0)} ms, ${waiting} commits waited`;
    return { what: `${before} calls in flight, ${away}, ${served} after it was back` };
  },
};

export const PRIMARY_FAULTS = [...primaryLost, standbyMissed];

const OLD_ONE_IS_BACK_MS = 1_000;
/** Longer than the timeout of a statement; Patroni's ttl is 20 s. */
const KEY_MS = 11_000;

/** Both cores serve every other call: four in a row reach both. */
async function untilServed(scene: Scene<Pair, Obedient>): Promise<string> {
  const startedMs = performance.now();
  const since = () => Math.round(performance.now() - startedMs);
  await untilServing(scene);
  const firstMs = since();
  for (let inARow = 1; inARow < 4; inARow++) if ((await untilServing(scene)) > 1_000) inARow = 0;
  return `served again ${firstMs} ms and steadily ${since()} ms`;
}
