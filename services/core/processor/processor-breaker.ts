/** This many calls in a row without an answer are an outage, once there was no answer for `silentMs` either. */
const SILENT_CALLS = 10;
const PROBE_MS = 1_000;

/**
 * Notices that a processor does not answer, so that nothing new is sent to it. `silentMs` is for how long there must
 * have been no answer; `nowMs` is monotonic.
 */
export function openBreaker(silentMs: number, nowMs: () => number = () => performance.now()) {
  let silentCalls = 0;
  let answeredAtMs = nowMs();
  let probedAtMs = Number.NEGATIVE_INFINITY;
  const isClosed = () => silentCalls < SILENT_CALLS || nowMs() - answeredAtMs < silentMs;
  return {
    /** Whether it answers, as far as is known. */
    isClosed,
    /** A call ended: with an answer, whatever it was, or without. */
    record(answered: boolean): void {
      if (answered) {
        silentCalls = 0;
        answeredAtMs = nowMs();
      } else silentCalls += 1;
    },
    /** Whether something new may be sent. While it may not, one call in PROBE_MS may, so that an answer is noticed. */
    admits(): boolean {
      if (isClosed()) return true;
      if (nowMs() - probedAtMs < PROBE_MS) return false;
      probedAtMs = nowMs();
      return true;
    },
  };
}
