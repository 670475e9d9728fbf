import { FairShare } from '../../../platform/fair-share.ts';

/**
 * Bounds how many callers wait for the answers of one processor, so that one that does not answer leaves room for the
 * callers of another; and of them a merchant whose calls are not answered for the other merchants.
 */
export class CallerLimit {
  readonly #waiting: FairShare;
  readonly #alone: FairShare;

  /** `most` callers may wait; Infinity = all. */
  constructor(most: number) {
    this.#waiting = new FairShare(most);
    this.#alone = new FairShare(most * UNATTENDED);
  }

  get waiting(): number {
    return this.#waiting.inFlight;
  }

  hasRoom(merchantId: string): boolean {
    return this.#waiting.full(merchantId) === undefined;
  }

  /** Runs a call while its caller waits; to be called when there is room. */
  async wait<T>(merchantId: string, call: () => Promise<T>): Promise<T> {
    const isCounted = this.#waiting.enter(merchantId) === undefined;
    try {
      return await call();
    } finally {
      if (isCounted) this.#waiting.leave(merchantId);
    }
  }

  /**
   * Runs a stored call: while its caller waits when there is room; else without, and undefined is returned at once. Of
   * those at most UNATTENDED times as many run; what is beyond that is not run, and left to recovery, which inquires
   * about what is stored.
   */
  waitOrLeave<T>(merchantId: string, call: () => Promise<T>): Promise<T> | undefined {
    if (this.hasRoom(merchantId)) return this.wait(merchantId, call);
    if (this.#alone.enter(merchantId) === undefined) void this.#runAlone(merchantId, call);
    return undefined;
  }

  async #runAlone(merchantId: string, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch {
      // Nobody waits for the refusal; it is stored.
    } finally {
      this.#alone.leave(merchantId);
    }
  }
}

/** A call without a waiting caller holds no request and no stream, so it costs little. */
const UNATTENDED = 4;
