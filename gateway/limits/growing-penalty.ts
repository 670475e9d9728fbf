import type { Limiter, Limits } from './limits.ts';

/** Blocks a key of a limiter. Returns for how long, in milliseconds. */
export type Punish = (limiter: Limiter, key: string) => Promise<number>;

/** Counts penalties under a name: each lasts twice as long as the key's last one, until a day passes without one. */
export function growingPenalty(limits: Limits, name: string, longestSeconds: number): Punish {
  const strikes = limits.limiter({ name, points: 1_000_000, durationSeconds: 86_400 });
  return async (limiter, key) => {
    const { consumedPoints } = await strikes.penalty(key);
    const seconds = Math.min(FIRST_SECONDS * 2 ** (consumedPoints - 1), longestSeconds);
    await limiter.block(key, seconds);
    return seconds * 1_000;
  };
}

const FIRST_SECONDS = 60;
