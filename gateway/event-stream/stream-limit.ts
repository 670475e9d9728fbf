import { Places } from '../../platform/places.ts';
import { Turns } from '../../platform/turns.ts';
import type { Limiter } from '../limits/limits.ts';
import { demandRate, rateLimited } from '../limits/rate-limit.ts';

/** Retry-After of a refused stream: about as long as it takes to notice that a reader has disconnected. */
const RETRY_AFTER_MS = 10_000;

/**
 * Streams that one key may open in durationSeconds. Each client that disconnects resets one HTTP/2 stream to core, and core
 * closes a connection with more than some tens of resets a second.
 */
export const OPENINGS = { name: 'streams', points: 100, durationSeconds: 10 } as const;

/**
 * Streams of one key that open at the same time. Each costs gateway and core some milliseconds, so a hundred at once
 * would delay everybody's calls by half a second.
 */
export const OPENING_AT_ONCE = 2;

export type StreamLimit = ReturnType<typeof limitStreams>;

/** Limits how many streams each key has open at this gateway, how often it opens one, and how many at the same time. */
export function limitStreams(most: number, openings: Limiter) {
  const places = new Places({ perKey: most });
  const turns = new Turns({ perKey: OPENING_AT_ONCE });
  return {
    /** Opens a stream that was counted, in its turn. Rejects with the signal's reason when that aborts first. */
    inTurn: <T>(key: string, open: () => Promise<T>, signal: AbortSignal): Promise<T> =>
      turns.run(key, open, { signal: () => signal }),
    /** Counts a stream. Resolves with a function to call once, when it ends. Throws RATE_LIMITED above either limit. */
    async open(key: string): Promise<() => void> {
      await demandRate(openings, key);
      const place = places.take(key);
      if (typeof place !== 'string') return () => place.leave();
      throw rateLimited(most, RETRY_AFTER_MS, `As many streams are open as may be: ${most}.`);
    },
  };
}
