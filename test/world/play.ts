/** Plays one line of the world: what runs, who acts, what goes wrong, and who judges. See README.md. */
import { chance } from '../torture/chance.ts';
import type { TortureOptions } from '../torture/options.ts';

/** What runs. */
export interface Stage {
  close(): Promise<void>;
}

/** Merchants who act until they are stopped, and record what they were told. */
export interface Merchants {
  stop(): Promise<unknown>;
}

export interface Scene<S extends Stage, M extends Merchants> {
  readonly stage: S;
  readonly merchants: M;
  /** From 0 to 1, determined by the seed. */
  readonly random: () => number;
}

/** Something that goes wrong while merchants act. */
export interface Fault<S extends Stage, M extends Merchants> {
  readonly name: string;
  /** Breaks something and mends it. Throws when the service does not recover as it must. */
  strike(scene: Scene<S, M>): Promise<Struck>;
}

export interface Struck {
  /** How many of them were hit. */
  readonly hit: number;
  /** After how many milliseconds the service served again, where that is measured. */
  readonly servedAfterMs?: number;
}

/** Asserts what must hold when the merchants have stopped. Returns figures; throws when it does not hold. */
export type Judge<S extends Stage, M extends Merchants> = (scene: Scene<S, M>) => Promise<string>;

/** Faults that strike in turn, and how often in all. */
export interface Phase<S extends Stage, M extends Merchants> {
  readonly faults: readonly Fault<S, M>[];
  readonly times: number;
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
    try {
      const scene = { stage, merchants: await line.merchants(stage, random), random };
      const lines: string[] = [];
      for (const phase of line.phases(runs)) {
        lines.push(await playPhase(scene, phase));
        tell(`played: ${lines.at(-1)}`);
      }
      await scene.merchants.stop();
      for (const judge of line.judges(runs)) lines.push(await judge(scene));
      return lines;
    } finally {
      await stage.close();
    }
  };
}

async function playPhase<S extends Stage, M extends Merchants>(scene: Scene<S, M>, { faults, times }: Phase<S, M>) {
  let hit = 0;
  let slowestMs: number | undefined;
  for (let round = 0; round < times; round++) {
    const struck = await faults[round % faults.length]?.strike(scene);
    hit += struck?.hit ?? 0;
    if (struck?.servedAfterMs !== undefined) slowestMs = Math.max(slowestMs ?? 0, struck.servedAfterMs);
  }
  const names = [...new Set(faults.map(({ name }) => name))].join(', ');
  const served = slowestMs === undefined ? '' : `; served again after at most ${Math.round(slowestMs)} ms`;
  return `${names}: ${hit} hit in ${times} rounds${served}`;
}
