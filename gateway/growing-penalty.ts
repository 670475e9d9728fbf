import type { Limiter, Limits } from './limits.ts';

/** Blocks a key of a limiter, and answers for how long, in milliseconds. */
export type Punish = (limiter: Limiter, key: string) => Promise<number>;

/** Opens a count of penalties under a name of its own: each is twice as long as the key's last, until a day without one. */
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
