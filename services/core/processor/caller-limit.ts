/**
 * Bounds how many callers wait for the answers of one processor, so that one that does not answer leaves room for the
 * callers of another.
 */
export class CallerLimit {
  readonly #most: number;
  #waiting = 0;
  #alone = 0;

  /** `most` callers may wait; Infinity = all. */
  constructor(most: number) {
    this.#most = most;
  }

  get waiting(): number {
    return this.#waiting;
  }

  hasRoom(): boolean {
    return this.#waiting < this.#most;
  }

  /** Runs a call while its caller waits; to be called when there is room. */
  async wait<T>(call: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    try {
      return await call();
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * Runs a stored call: while its caller waits when there is room; else without, and undefined is returned at once. Of
   * those at most UNATTENDED times as many run; what is beyond that is not run, and left to recovery, which inquires
   * about what is stored.
   */
  waitOrLeave<T>(call: () => Promise<T>): Promise<T> | undefined {
    if (this.hasRoom()) return this.wait(call);
    if (this.#alone < this.#most * UNATTENDED) void this.#runAlone(call);
    return undefined;
  }

  async #runAlone(call: () => Promise<unknown>): Promise<void> {
    this.#alone += 1;
    try {
      await call();
    } catch {
      // Nobody waits for the refusal; it is stored.
    } finally {
      this.#alone -= 1;
    }
  }
}

/** A call without a waiting caller holds no request and no stream, so it costs little. */
const UNATTENDED = 4;
