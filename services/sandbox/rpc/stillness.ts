import type { Clock } from '../clock.ts';

/** A caller that waits for ever is let go after this long. */
const LONGEST_SILENCE_MS = 60_000;

interface Call {
  readonly cancelled: boolean;
  once(event: 'cancelled', listener: () => void): unknown;
}

/** Calls that get no answer: kept until the caller gives up (deadline or cancel), for a minute, or until `end()`. */
export function stillness(clock: Clock): { keep(call: Call, letGo: () => void): void; end(): void } {
  const kept = new Set<() => void>();
  return {
    keep(call, letGo) {
      if (call.cancelled) return letGo();
      const release = () => {
        if (!kept.delete(release)) return;
        callOff();
        letGo();
      };
      const callOff = clock.after(LONGEST_SILENCE_MS, release);
      kept.add(release);
      call.once('cancelled', release);
    },
    end() {
      for (const release of [...kept]) release();
    },
  };
}
