/** This many calls in a row without an answer are an outage, once there was no answer for `silentMs` either. */
const SILENT_CALLS = 10;
/** One merchant counts for so many of them at most: its account or tokens may be the cause. */
const SILENT_CALLS_OF_ONE = SILENT_CALLS / 2;
/** This often in a row the processor did not answer when it was asked itself. */
const SILENT_ASKS = 2;
const PROBE_MS = 1_000;
/** Merchants without an answer that are remembered, the latest. */
const MOST_SILENT = 1_000;

/** A merchant whose last calls had no answer. */
interface SilentMerchant {
  /** Since its last answer. */
  calls: number;
  readonly sinceMs: number;
  probedAtMs: number;
  /** Since the last answer to anybody. */
  callsOfAll: number;
  /** The number of that answer. */
  answer: number;
}

/**
 * Notices that a processor does not answer, so that nothing new is sent to it: for one merchant when that has no
 * answer, for all when several have none, or the processor itself does not answer when it is asked how it is.
 * `silentMs` is for how long there must have been no answer; `nowMs` is monotonic.
 */
export function openBreaker(silentMs: number, nowMs: () => number = () => performance.now()) {
  /** Merchants without an answer, the longest first. */
  const silent = new Map<string, SilentMerchant>();
  let answers = 0;
  let answeredAtMs = nowMs();
  /** When anything was answered, also how it is. */
  let heardAtMs = nowMs();
  let silentCalls = 0;
  let silentAsks = 0;
  let probedAtMs = Number.NEGATIVE_INFINITY;
  /** The only merchant that has called; null = there are several. */
  let only: string | null | undefined;
  const isOutage = (calls: number, sinceMs: number) => calls >= SILENT_CALLS && nowMs() - sinceMs >= silentMs;
  const isOpenFor = (merchant: SilentMerchant | undefined) =>
    merchant !== undefined && isOutage(merchant.calls, merchant.sinceMs);
  const isOpenForAll = () => silentAsks >= SILENT_ASKS || isOutage(silentCalls, answeredAtMs);

  function answered(merchantId: string): void {
    silent.delete(merchantId);
    answers += 1;
    answeredAtMs = nowMs();
    heardAtMs = answeredAtMs;
    [silentCalls, silentAsks] = [0, 0];
  }
  function unanswered(merchantId: string, tookMs: number): void {
    let merchant = silent.get(merchantId);
    if (!merchant) {
      merchant = {
        calls: 0,
        sinceMs: nowMs() - tookMs,
        probedAtMs: Number.NEGATIVE_INFINITY,
        callsOfAll: 0,
        answer: answers,
      };
      silent.set(merchantId, merchant);
      const [longest = merchantId] = silent.keys();
      if (silent.size > MOST_SILENT) silent.delete(longest);
    }
    if (merchant.answer !== answers) Object.assign(merchant, { callsOfAll: 0, answer: answers });
    merchant.calls += 1;
    merchant.callsOfAll += 1;
    if (merchant.callsOfAll <= SILENT_CALLS_OF_ONE) silentCalls += 1;
  }
  return {
    /** Returns whether it answers, as far as known. With a single merchant, its unanswered calls count for all. */
    isClosed: (): boolean => !isOpenForAll() && !(only && isOpenFor(silent.get(only))),
    /** Returns whether it has answered no call at all for so long. */
    isSilent: (ms: number): boolean => nowMs() - heardAtMs >= ms,
    /** Records the end of a merchant's call after `tookMs`: with any answer, or without. */
    record(merchantId: string, isAnswered: boolean, tookMs = 0): void {
      if (only === undefined) only = merchantId;
      else if (only !== merchantId) only = null;
      if (isAnswered) answered(merchantId);
      else unanswered(merchantId, tookMs);
    },
    /** It was asked how it is. An answer does not mean that calls about money are answered. */
    recordAsked(isAnswered: boolean): void {
      silentAsks = isAnswered ? 0 : silentAsks + 1;
      if (isAnswered) heardAtMs = nowMs();
    },
    /**
     * Returns whether a new operation of a merchant may be sent. While not, one call in PROBE_MS may, to notice an
     * answer.
     */
    admits(merchantId: string): boolean {
      const merchant = silent.get(merchantId);
      if (isOpenForAll()) {
        if (nowMs() - probedAtMs < PROBE_MS) return false;
        probedAtMs = nowMs();
      } else if (merchant && isOpenFor(merchant)) {
        if (nowMs() - merchant.probedAtMs < PROBE_MS) return false;
        merchant.probedAtMs = nowMs();
      }
      return true;
    },
  };
}
