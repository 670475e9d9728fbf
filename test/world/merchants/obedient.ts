/** Merchants who obey every answer, with all that they want of holds and payments to cards. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment, Merchant } from '../../torture/deployment/deployment.ts';
import { openCaller } from './caller.ts';
import { openClient } from './client.ts';
import { openPythonClient } from './python.ts';
import { holdOf, openStoryteller, type StoryOptions } from './stories.ts';

/**
 * Who obeys: the package of merchants (client/), the same in Python, or clients that take the table of answers literally.
 * All but `table` have keys, and repeat what a broken connection leaves unanswered.
 */
export type Obeying = 'package' | 'python' | 'table' | 'keyed table';

export type Obedient = Awaited<ReturnType<typeof startObedient>>;

/** The merchants of a stage for this: whether they capture a hold in parts. */
export const OBEDIENT = { ann: true, bob: true, cleo: false, flood1: true, flood2: true, probe: true };

/** Starts their stories, drawn from `random`, which go on until they are stopped. */
export async function startObedient(stage: Deployment, by: Obeying, random: () => number, options?: StoryOptions) {
  const caller = openCaller(stage.baseUrl);
  const frozenMs: (readonly [number, number])[] = [];
  const excusedMs = ({ startedMs, tookMs }: { startedMs: number; tookMs: number }) =>
    frozenMs.reduce(
      (sum, [from, to]) => sum + Math.max(0, Math.min(to, startedMs + tookMs) - Math.max(from, startedMs)),
      0,
    );
  const python = by === 'python' ? await openPythonClient(caller) : undefined;
  const client = openClient(caller, python ?? LITERAL[by] ?? 'PACKAGE', excusedMs);
  const named = (...names: (keyof typeof OBEDIENT)[]) => names.map((name) => stage.merchants.get(name) as Merchant);
  const merchants = named('ann', 'bob', 'cleo');
  // Who takes the table literally does not read the hold that a 202 is about.
  const asksCustomers = by === 'package' || by === 'python';
  const stories = openStoryteller(client, merchants, random, { asksCustomers, ...options });
  const floods = named('flood1', 'flood2');
  /** Places a hold of a merchant who has no stories. */
  const placeOf = (merchant: Merchant, patienceMs?: number) =>
    client.want(holdOf(merchant, stories.nextUser(), 'tok_sandbox_ok'), patienceMs);
  const holdsPerSecond = await measure(() => placeOf(floods[0] as Merchant));
  const load = stories.start(STORY_EVERY_MS, STORIES_AT_ONCE);
  return {
    caller,
    client,
    stories,
    /** Merchants of the stories, and those that only flood. */
    merchants,
    floods,
    /** The machine's capacity. */
    holdsPerSecond,
    /** Records when the gateway was frozen, so that it is not blamed for late answers. */
    excuse: (fromMs: number, toMs: number) => void frozenMs.push([fromMs, toMs]),
    /** Places a hold of a merchant who does nothing else. */
    probe: (patienceMs?: number) => placeOf(named('probe')[0] as Merchant, patienceMs),
    untilBusy: async () => caller.inFlight(),
    async stop(): Promise<void> {
      await load.stop();
      // Floods may leave intentions that are still asked about.
      for (let waitedMs = 0; client.open() > 0; waitedMs += 250) {
        assert(waitedMs < DECIDED_WITHIN_MS, `${client.open()} intentions have no outcome`);
        await delay(250);
      }
    },
    async close(): Promise<void> {
      await python?.close();
      await caller.close();
    },
  };
}

const LITERAL: Partial<Record<Obeying, 'TABLE' | 'KEYED_TABLE'>> = { table: 'TABLE', 'keyed table': 'KEYED_TABLE' };

/** About 60 writes a second; some hundred accumulate while they wait for an inquiry. */
const STORY_EVERY_MS = 110;
const STORIES_AT_ONCE = 300;

const DECIDED_WITHIN_MS = 180_000;

/** Holds per second that 32 lanes of one merchant get placed. */
async function measure(place: () => Promise<unknown>): Promise<number> {
  const endMs = performance.now() + 2_000;
  let placed = 0;
  const lanes = Array.from({ length: 32 }, async () => {
    while (performance.now() < endMs) {
      await place();
      placed++;
    }
  });
  await Promise.all(lanes);
  return placed / 2;
}
