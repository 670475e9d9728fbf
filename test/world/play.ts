/** Plays one line of the world: what runs, who acts, what goes wrong, and who judges. See README.md. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { chance } from '../torture/chance.ts';
import type { TortureOptions } from '../torture/options.ts';
import { planRounds, type Timing } from './rounds.ts';

/** What runs. */
export interface Stage {
  close(): Promise<void>;
}

/** Merchants who act until they are stopped, and record what they were told. */
export interface Merchants {
  stop(): Promise<unknown>;
  /** Ends connections and processes of theirs, also after a failure. */
  close?(): Promise<unknown>;
}

/** Merchants whose calls a fault can interrupt. */
export interface BusyMerchants extends Merchants {
  /** Resolves when calls are in flight. Returns how many. */
  untilBusy(): Promise<number>;
}

export interface Scene<S extends Stage, M extends Merchants> {
  readonly stage: S;
  readonly merchants: M;
  /** From 0 to 1, determined by the seed. */
  readonly random: () => number;
}

/** Something that goes wrong while merchants act. */
export interface Fault<S extends Stage, M extends Merchants> extends Timing {
  readonly name: string;
  /**
   * Breaks something for a time and mends it. Returns undefined when nothing was hit; throws when the service does not
   * recover as it must.
   */
  strike(scene: Scene<S, M>, durationMs: number): Promise<Struck | undefined>;
}

export interface Struck {
  /** How many of them were hit; by default one. */
  readonly hit?: number;
  /** After how many milliseconds the service served again, where that is measured. */
  readonly servedAfterMs?: number;
  /** What happened, with figures as evidence. */
  readonly what?: string;
}

/** Asserts what must hold when the merchants have stopped. Returns figures; throws when it does not hold. */
export type Judge<S extends Stage, M extends Merchants> = (scene: Scene<S, M>) => Promise<string>;

/** Faults that strike in turn or together, and how often in all. Each that was planned must hit something. */
export interface Phase<S extends Stage, M extends Merchants> {
  readonly faults: readonly Fault<S, M>[];
  readonly times: number;
  /** How many of them coincide in a round, at most; each has a beginning and a duration of its own. By default one does. */
  readonly atOnce?: number;
  /** Judge after each round, while merchants act. */
  readonly afterEach?: readonly Judge<S, M>[];
}

export interface Line<S extends Stage, M extends Merchants> {
  readonly stage: (rounds: number, random: () => number) => Promise<S>;
  readonly merchants: (stage: S, random: () => number) => M | Promise<M>;
  /** One after the other. */
  readonly phases: (rounds: number) => readonly Phase<S, M>[];
  /** In this order. */
  readonly judges: (rounds: number) => readonly Judge<S, M>[];
  /** By default. */
  readonly rounds: number;
}

export type Torture = (options: TortureOptions) => Promise<string[]>;

/** Makes a torture of a line. It returns figures, and throws on the first failure. */
export function lineOf<S extends Stage, M extends Merchants>(line: Line<S, M>): Torture {
  return async ({ seed, runs = line.rounds, tell = () => undefined }) => {
    const random = chance(seed);
    const stage = await line.stage(runs, random);
    const lines: string[] = [];
    let merchants: M | undefined;
    try {
      merchants = await line.merchants(stage, random);
      const scene = { stage, merchants, random };
      for (const phase of line.phases(runs)) lines.push(...(await playPhase(scene, phase, seed, tell)));
      await merchants.stop();
      for (const judge of line.judges(runs)) lines.push(await judge(scene));
      return lines;
    } catch (error) {
      throw new Error([...lines, (error as Error).stack].join('\n'), { cause: error });
    } finally {
      await merchants?.close?.();
      await stage.close();
    }
  };
}

/** Returns a line for each fault. */
async function playPhase<S extends Stage, M extends Merchants>(
  scene: Scene<S, M>,
  { faults, times, atOnce, afterEach = [] }: Phase<S, M>,
  seed: number,
  tell: (line: string) => void,
): Promise<string[]> {
  const struck = new Map<string, (Struck | undefined)[]>();
  const inTurn = (round: number) => faults.slice(round % faults.length).slice(0, 1);
  const rounds = atOnce
    ? planRounds(seed, times, faults, atOnce)
    : Array.from({ length: times }, (_, round) =>
        inTurn(round).map((fault) => ({ fault, startMs: 0, durationMs: 0, random: chance(seed + round) })),
      );
  const play = async (round: (typeof rounds)[number], say: (what: string) => void) => {
    const striking = round.map(async ({ fault, startMs, durationMs, random }) => {
      await delay(startMs);
      const hit = await fault.strike({ ...scene, random }, durationMs);
      struck.set(fault.name, [...(struck.get(fault.name) ?? []), hit]);
      say(hit ? `${fault.name}: ${figuresOf([hit])}` : `${fault.name} did not happen`);
    });
    // Each mends what it broke before a failure of another one ends the line.
    const failed = (await Promise.allSettled(striking)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    for (const judge of afterEach) say(await judge(scene));
  };
  for (const [index, round] of rounds.entries()) {
    const name = `round ${index + 1}${atOnce ? '' : `, seed ${seed + index}`}`;
    await play(round, (what) => tell(`${name}: ${what}`)).catch((cause) => {
      throw new Error(`${name}: ${(cause as Error).stack}`, { cause });
    });
  }
  return [...struck].map(([name, all]) => {
    const hits = all.filter((each) => each !== undefined);
    assert(hits.length > 0, `${name} never happened, so nothing is shown`);
    return `${name}, ${all.length} times: ${figuresOf(hits)}`;
  });
}

function figuresOf(all: readonly Struck[]): string {
  const served = all.flatMap(({ servedAfterMs }) => servedAfterMs ?? []);
  return [
    `${all.reduce((sum, { hit = 1 }) => sum + hit, 0)} hit`,
    ...(served.length > 0 ? [`served again after at most ${Math.round(Math.max(...served))} ms`] : []),
    ...all.flatMap(({ what }) => what ?? []),
  ].join(' | ');
}
