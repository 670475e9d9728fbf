import { type Place, Places } from '../../../platform/places.ts';

/**
 * Bounds how many callers wait for the answers of one processor, so that a silent one leaves room for the callers of
 * another: `most` may wait, Infinity = all. One merchant may take nearly all of it. The room left, and a breaker for
 * each merchant, protect the others from its unanswered calls.
 */
export function limitCallers(most: number) {
  const waiting = new Places({ total: most, share: SHARE });
  const unattended = new Places({ total: most * UNATTENDED, share: SHARE });
  const limit = {
    get waiting(): number {
      return waiting.taken;
    },
    hasRoom: (merchantId: string): boolean => waiting.full(merchantId) === undefined,
    /** Runs a call while its caller waits; to be called when there is room. */
    run<T>(merchantId: string, call: () => Promise<T>): Promise<T> {
      return holding(waiting.takeAnyway(merchantId), call);
    },
    /**
     * Runs a stored call: while its caller waits when there is room; else without, and undefined is returned at once.
     * Of those at most UNATTENDED times as many run; what is beyond that is not run, and left to recovery, which
     * inquires about what is stored.
     */
    runOrDetach<T>(merchantId: string, call: () => Promise<T>): Promise<T> | undefined {
      if (limit.hasRoom(merchantId)) return limit.run(merchantId, call);
      const place = unattended.take(merchantId);
      // Nobody waits for a refusal; it is stored.
      if (typeof place !== 'string') holding(place, call).catch(() => undefined);
      return undefined;
    },
  };
  return limit;
}

export type CallerLimit = ReturnType<typeof limitCallers>;

async function holding<T>(place: Place, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } finally {
    place.leave();
  }
}

/** A merchant alone leaves an eighth free, and two leave a fifteenth. */
const SHARE = 7;

/** A call without a waiting caller holds no request and no stream, so it costs little. */
const UNATTENDED = 4;
