/** Which faults coincide, and when: determined by the seed alone. */
import { chance } from '../chance.ts';
import type { Member } from '../deployment/member.ts';
import { backendsTerminated, beyondFinal, type Fault, frozen, killed, link, readOnly, rowsLocked } from './faults.ts';
import { overloadByOne, overloadByOthers, streamsDropped } from './load-faults.ts';

/** One fault of a round. */
export interface Planned {
  readonly name: string;
  readonly fault: Fault;
  readonly startMs: number;
  readonly durationMs: number;
  readonly random: () => number;
}

/** Faults that do not affect the connections of clients. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'database frozen': frozen('database', ({ database }) => database),
  'database killed': killed('database', ({ database }) => database),
  'backends terminated': backendsTerminated,
  'database read-only': readOnly,
  'core-1 frozen': frozen('core-1', ({ cores }) => cores[0] as Member),
  'core-2 frozen': frozen('core-2', ({ cores }) => cores[1] as Member),
  'core-1 frozen until a 404 is final': beyondFinal(frozen('core-1', ({ cores }) => cores[0] as Member)),
  'core-1 killed': killed('core-1', ({ cores }) => cores[0] as Member),
  'core-2 killed': killed('core-2', ({ cores }) => cores[1] as Member),
  'worker frozen': frozen('worker', ({ worker }) => worker),
  'worker killed': killed('worker', ({ worker }) => worker),
  'sandbox frozen': frozen('sandbox', ({ sandbox }) => sandbox),
  'sandbox killed': killed('sandbox', ({ sandbox }) => sandbox),
  'gateway frozen': frozen('gateway', ({ gateway }) => gateway),
  'gateway cut from core': link('cut'),
  'gateway and core out of touch': link('stalled'),
  'gateway and core out of touch until a 404 is final': beyondFinal(link('stalled')),
  'overload by others': overloadByOthers,
  'overload by one merchant': overloadByOne,
  'one row locked': rowsLocked(1),
  'two rows locked': rowsLocked(2),
  'streams dropped': streamsDropped,
};
/** Breaks connections of clients, who then need a key to repeat under. */
const KEYED_FAULTS = { 'gateway killed': killed('gateway', ({ gateway }) => gateway) };

/** The names of all faults of a variant. */
export function faultsOf(isKeyed: boolean): Readonly<Record<string, Fault>> {
  return isKeyed ? { ...FAULTS, ...KEYED_FAULTS } : FAULTS;
}

/** Assigns one to three faults to each round, each as often as any other. */
export function planRounds(seed: number, rounds: number, faults: Readonly<Record<string, Fault>>): Planned[][] {
  const random = chance(seed);
  let deck: string[] = [];
  return Array.from({ length: rounds }, (_, round) => {
    const planned: Planned[] = [];
    const wanted = 1 + Math.floor(random() * 3);
    for (let tries = 0; planned.length < wanted && tries < 20; tries++) {
      if (deck.length === 0) deck = shuffled(Object.keys(faults), random);
      const name = deck.shift() as string;
      const fault = faults[name] as Fault;
      if (planned.some((other) => other.fault.target === fault.target)) {
        deck.push(name);
        continue;
      }
      // Short ones are more frequent; one to twenty seconds, except for faults that need longer.
      const { shortestMs = 1_000, longestMs } = fault;
      const durationMs = shortestMs + random() ** 2 * (longestMs - shortestMs);
      planned.push({
        name,
        fault,
        startMs: random() * 3_000,
        durationMs,
        random: chance(seed + 1_000 * round + tries),
      });
    }
    const leadMs = Math.max(0, ...planned.map(({ fault }) => fault.leadMs ?? 0));
    return planned.map((one) => ({ ...one, startMs: one.fault.leadMs ? 0 : leadMs + one.startMs }));
  });
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const ranked = items.map((item) => [random(), item] as const);
  return ranked.sort(([a], [b]) => a - b).map(([, item]) => item);
}
