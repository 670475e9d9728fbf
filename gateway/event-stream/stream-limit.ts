import { Places } from '../../platform/places.ts';
import type { Limiter } from '../limits/limits.ts';
import { demandRate, rateLimited } from '../limits/rate-limit.ts';

/** Retry-After of a refused stream: about as long as it takes to notice that a reader has disconnected. */
const RETRY_AFTER_MS = 10_000;

/**
 * Streams that one key may open in durationSeconds. Each client that disconnects resets one HTTP/2 stream to core, and core
 * closes a connection with more than some tens of resets a second.
 */
export const OPENINGS = { name: 'streams', points: 100, durationSeconds: 10 } as const;

export type StreamLimit = ReturnType<typeof limitStreams>;

/** Limits how many streams each key has open at this gateway, and how often it opens one. */
export function limitStreams(most: number, openings: Limiter) {
  const places = new Places({ perKey: most });
  return {
    /** Counts a stream. Resolves with a function to call once, when it ends. Throws RATE_LIMITED above either limit. */
    async open(key: string): Promise<() => void> {
      await demandRate(openings, key);
      const place = places.take(key);
      if (typeof place !== 'string') return () => place.leave();
      throw rateLimited(most, RETRY_AFTER_MS, `As many streams are open as may be: ${most}.`);
    },
  };
}
