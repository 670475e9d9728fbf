/** The ways in which a database's machine is lost. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Scene } from '../obedient/faults.ts';
import { untilServing } from '../obedient.ts';
import type { PostgresPair } from './postgres-pair.ts';

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

export const WAYS_TO_LOSE: Readonly<Record<string, Lose>> = {
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
export function loseThePrimary(pairOf: () => PostgresPair, lose: Lose): Fault['run'] {
  return async (scene, durationMs) => {
    const pair = pairOf();
    const old = pair.primary();
    const before = scene.caller.inFlight();
    const { wake, what, isUncertain } = await lose(pair, durationMs);
    const noticedMs = isUncertain ? KEY_MS + durationMs : durationMs;
    await delay(noticedMs);
    await pair.promote();
    const served = await untilServed(scene);
    wake();
    await delay(OLD_ONE_IS_BACK_MS);
    await old.member.kill();
    await pair.rebuild();
    return (
      `${before} calls in flight, ${what ?? `noticed after ${noticedMs.toFixed(0)} ms`}, ${served} after the ` +
      'promotion'
    );
  };
}

/**
 * The standby is unreachable for longer than a statement may take; nothing is promoted, and the waiting commits are
 * confirmed in the end.
 */
export function missTheStandby(pairOf: () => PostgresPair): Fault['run'] {
  return async (scene, durationMs) => {
    const pair = pairOf();
    const before = scene.caller.inFlight();
    const { wire } = pair.primary();
    wire.cut();
    await delay(durationMs);
    const waiting = await pair.waitingCommits();
    wire.mend();
    const served = await untilServed(scene);
    return (
      `${before} calls in flight, away for ${durationMs.toFixed(0)} ms, ${waiting} commits waited, ${served} ` +
      'after it was back'
    );
  };
}

const OLD_ONE_IS_BACK_MS = 1_000;
/** Longer than the timeout of a statement; Patroni's ttl is 20 s. */
const KEY_MS = 11_000;

/** Both cores serve every other call: four in a row reach both. */
async function untilServed(scene: Scene): Promise<string> {
  const startedMs = performance.now();
  const since = () => Math.round(performance.now() - startedMs);
  await untilServing(scene);
  const firstMs = since();
  for (let inARow = 1; inARow < 4; inARow++) if ((await untilServing(scene)) > 1_000) inARow = 0;
  return `served again ${firstMs} ms and steadily ${since()} ms`;
}
