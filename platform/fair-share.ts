/**
 * Bounds what is under way in this process. Each owner may have as much as it leaves free (dynamic thresholds:
 * Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998): one owner alone gets
 * half, n owners that flood share n/(n+1), and the rest is for owners that have less under way.
 */
export class FairShare {
  readonly #most: number;
  readonly #ofOwner = new Map<string, number>();
  #inFlight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Returns why no more of an owner is let in: TOTAL = nothing is free; OWNER = the owner has its share. */
  full(owner: string): 'TOTAL' | 'OWNER' | undefined {
    const free = this.#most - this.#inFlight;
    if (free <= 0) return 'TOTAL';
    return (this.#ofOwner.get(owner) ?? 0) >= free ? 'OWNER' : undefined;
  }

  /** Counts one more. Returns why not. */
  enter(owner: string): 'TOTAL' | 'OWNER' | undefined {
    const full = this.full(owner);
    if (full) return full;
    const own = this.#ofOwner.get(owner) ?? 0;
    this.#ofOwner.set(owner, own + 1);
    this.#inFlight += 1;
    return undefined;
  }

  /** Counts one less, to be called once for each time that enter() counted one. */
  leave(owner: string): void {
    const own = (this.#ofOwner.get(owner) ?? 1) - 1;
    if (own > 0) this.#ofOwner.set(owner, own);
    else this.#ofOwner.delete(owner);
    this.#inFlight -= 1;
  }
}
