/** Which faults coincide, and when: determined by the seed alone. */
import { chance } from '../torture/chance.ts';

/** What of a fault decides when it strikes. */
export interface Timing {
  /** What it breaks. Two faults of the same target never coincide. */
  readonly target?: string;
  /** How long it lasts, where that is drawn: by default at least a second. */
  readonly shortestMs?: number;
  readonly longestMs?: number;
  /** How long it prepares itself, undisturbed by others, in milliseconds. */
  readonly leadMs?: number;
}

/** One fault of a round. */
export interface Planned<F extends Timing> {
  readonly fault: F;
  readonly startMs: number;
  readonly durationMs: number;
  readonly random: () => number;
}

/** Assigns one fault to each round, or up to `atOnce`, each as often as any other. */
export function planRounds<F extends Timing>(
  seed: number,
  rounds: number,
  faults: readonly F[],
  atOnce: number,
): Planned<F>[][] {
  const random = chance(seed);
  const deck: F[] = [];
  return Array.from({ length: rounds }, (_, round) => {
    const planned: Planned<F>[] = [];
    const wanted = 1 + Math.floor(random() * atOnce);
    for (let tries = 0; planned.length < wanted && tries < 20; tries++) {
      if (deck.length === 0) deck.push(...shuffled(faults, random));
      const fault = deck.shift() as F;
      if (planned.some((other) => other.fault.target === fault.target)) {
        deck.push(fault);
        continue;
      }
      // Short ones are more frequent.
      const { shortestMs = 1_000, longestMs = shortestMs } = fault;
      const durationMs = shortestMs + random() ** 2 * (longestMs - shortestMs);
      planned.push({ fault, startMs: random() * 3_000, durationMs, random: chance(seed + 1_000 * round + tries) });
    }
    const leadMs = Math.max(0, ...planned.map(({ fault }) => fault.leadMs ?? 0));
    return planned.map((one) => ({ ...one, startMs: one.fault.leadMs ? 0 : leadMs + one.startMs }));
  });
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const ranked = items.map((item) => [random(), item] as const);
  return ranked.sort(([a], [b]) => a - b).map(([, item]) => item);
}
