/** Faults of a deployment while its clients obey: of processes, connections and the database. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment, Merchant } from '../deployment/deployment.ts';
import type { Member } from '../deployment/member.ts';
import { withSession } from '../deployment/postgres-member.ts';
import type { Caller } from './caller.ts';
import type { Client } from './client.ts';
import type { Storyteller } from './stories.ts';

/** The scope of a fault. */
export interface Scene {
  readonly deployment: Deployment;
  readonly caller: Caller;
  readonly client: Client;
  readonly stories: Storyteller;
  /** Merchants of the stories, and those that only flood. */
  readonly merchants: readonly Merchant[];
  readonly floods: readonly Merchant[];
  /** The machine's capacity, holds per second. */
  readonly holdsPerSecond: number;
  /** Records when the gateway was frozen, so that it is not blamed for late answers. */
  readonly excuse: (fromMs: number, toMs: number) => void;
}

/** A fault. No two faults of a round have the same target. */
export interface Fault {
  readonly target: string;
  readonly longestMs: number;
  /** By default one second. */
  readonly shortestMs?: number;
  /** How long it prepares itself, undisturbed by others, in milliseconds. */
  readonly leadMs?: number;
  /**
   * Breaks the target for a time and repairs it. Returns what happened, with figures as evidence; undefined when
   * nothing did.
   */
  run(scene: Scene, durationMs: number, random: () => number): Promise<string | undefined>;
}

type Part = (deployment: Deployment) => Member;

const LONGEST_MS = 20_000;

export function frozen(target: string, part: Part): Fault {
  return {
    target,
    longestMs: LONGEST_MS,
    async run({ deployment, caller, excuse }, durationMs) {
      const before = caller.inFlight();
      const startedMs = performance.now();
      const thaw = await part(deployment).freeze();
      await delay(durationMs);
      const after = caller.inFlight();
      thaw();
      const endedMs = performance.now();
      if (target === 'gateway') excuse(startedMs, endedMs);
      return `for ${seconds(endedMs - startedMs)}, ${before} calls in flight before and ${after} at its end`;
    },
  };
}

/**
 * So long that a call is given up by the gateway after 15 s, found to have never happened 30 s later, sent again, and
 * only then reaches the core that it was sent to first.
 */
export function beyondFinal(fault: Fault): Fault {
  return { ...fault, shortestMs: 49_000, longestMs: 53_000 };
}

export function killed(target: string, part: Part): Fault {
  return {
    target,
    longestMs: 8_000,
    async run({ deployment, caller }, durationMs) {
      const before = caller.inFlight();
      const startedMs = performance.now();
      await part(deployment).kill();
      await delay(durationMs);
      await part(deployment).start();
      return `with -9, ${before} calls in flight, away for ${seconds(performance.now() - startedMs)}`;
    },
  };
}

/**
 * Connections of the gateway to one core or both: reset, or open and silent; what was sent meanwhile arrives late or
 * never.
 */
export function link(how: 'cut' | 'stalled'): Fault {
  return {
    target: 'link',
    longestMs: how === 'cut' ? 8_000 : LONGEST_MS,
    async run({ deployment, caller }, durationMs, random) {
      const which = Math.floor(random() * 3);
      const links = deployment.links.filter((_, index) => which === 2 || which === index);
      const isLost = random() < 0.5;
      const before = caller.inFlight();
      const counts = links.map((each) => (how === 'cut' ? each.cut() : each.stall()));
      await delay(durationMs);
      for (const each of links) each.mend(isLost);
      const after = how === 'stalled' && ` and then ${isLost ? 'lost' : 'delivered'}`;
      return (
        `${counts.reduce((sum, count) => sum + count, 0)} connections to ${links.length} cores for ` +
        `${seconds(durationMs)}${after || ''}, ${before} calls in flight`
      );
    },
  };
}

export const backendsTerminated: Fault = {
  target: 'database',
  longestMs: 8_000,
  run: ({ deployment, caller }, durationMs, random) =>
    withSession(deployment.database.adminUrl, async (client) => {
      const endMs = performance.now() + durationMs;
      const inFlight = [];
      let terminated = 0;
      while (performance.now() < endMs) {
        inFlight.push(caller.inFlight());
        terminated += (await client.query(TERMINATE)).rowCount ?? 0;
        await delay(100 + random() * 900);
      }
      return `${terminated} backends in ${inFlight.length} turns, ${Math.max(...inFlight)} calls in flight at most`;
    }),
};

const TERMINATE = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'holdfast'";

export const readOnly: Fault = {
  target: 'database',
  longestMs: 12_000,
  run: ({ deployment, caller }, durationMs) =>
    withSession(deployment.database.adminUrl, async (client) => {
      const before = caller.inFlight();
      await client.query('alter system set default_transaction_read_only = on');
      await client.query('select pg_reload_conf()');
      try {
        await delay(durationMs);
      } finally {
        await client.query('alter system reset default_transaction_read_only');
        await client.query('select pg_reload_conf()');
      }
      return `for ${seconds(durationMs)}, ${before} calls in flight`;
    }),
};

/** Rows of holds locked by another session while their captures are reserved, or settle. */
export function rowsLocked(count: number): Fault {
  return {
    target: 'rows',
    longestMs: LONGEST_MS,
    leadMs: 3_500,
    async run(scene, durationMs, random) {
      const isSettling = random() < 0.5;
      const several = scene.merchants.filter(({ severalCaptures }) => severalCaptures);
      let most = 0;
      let rows = 0;
      let heldMs = 0;
      let isOver = false;
      /** Tries until the row is locked: another fault may have killed the database, or kill it, which ends the lock. */
      const lockOne = async (requestId: string) => {
        let lockedMs: number | undefined;
        while (lockedMs === undefined && !isOver) {
          const locking = withSession(scene.deployment.database.adminUrl, async (client) => {
            // Another fault may have made the database read-only.
            await client.query('begin read write');
            const locked = await client.query('select from hold where request_id = $1 for update', [requestId]);
            lockedMs = performance.now();
            rows += locked.rowCount ?? 0;
            while (performance.now() < lockedMs + durationMs) {
              await delay(100);
              await client.query('select');
              heldMs = Math.max(heldMs, performance.now() - lockedMs);
              most = Math.max(most, scene.caller.inFlight());
            }
            await client.query('rollback');
          });
          await locking.catch(() => delay(100));
        }
      };
      const locking: Promise<void>[] = [];
      const stories = Array.from({ length: count }, (_, index) =>
        scene.stories.tellOf(
          isSettling ? 'slow' : 'ok',
          several[index % several.length] as Merchant,
          async (requestId) => {
            // The slow processor answers after 2 s; until then the reservation is committed and nothing is settled.
            const locked = isSettling ? delay(700).then(() => lockOne(requestId)) : lockOne(requestId);
            locking.push(locked);
            if (!isSettling) await delay(100);
          },
        ),
      );
      const over = Promise.all(stories).then(() => {
        isOver = true;
      });
      await Promise.race([over, delay(5_000)]);
      // A busy machine may not have placed a hold by then.
      while (locking.length === 0 && !isOver) await delay(100);
      await Promise.all(locking);
      if (rows === 0) return undefined;
      const when = isSettling ? 'settled' : 'reserved';
      return (
        `${rows} rows for ${seconds(heldMs)} while their captures were to be ${when}, ${most} calls in ` +
        'flight at most'
      );
    },
  };
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
