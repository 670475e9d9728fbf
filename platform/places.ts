/** Bounds of Places; absent = none. */
export interface PlacesBounds {
  /** Most places that are taken at a time. */
  readonly total?: number;
  /** Most of them by one key. */
  readonly perKey?: number;
  /**
   * A key may have as many as it leaves free, times this. Of 80, with 1, one key alone gets 40, two 26 each; with 7, one
   * alone gets 70, two 37 each. What is left is for keys that have less (dynamic thresholds: Choudhury and Hahne,
   * "Dynamic queue length thresholds for shared-memory packet switches", 1998).
   */
  readonly share?: number;
}

/** Why no place is free: TOTAL = all are taken; KEY = the key has as many as it may. */
export type Full = 'TOTAL' | 'KEY';

/** A place that was taken. */
export interface Place extends Disposable {
  /** Gives it back, once however often it is called. */
  leave(): void;
}

/** Counts what is under way in this process, by key, and bounds it. A key without a place takes no memory. */
export class Places<Key = string> {
  readonly #total: number;
  readonly #perKey: number;
  readonly #share: number;
  readonly #tallies = new Map<Key, Tally<Key>>();
  readonly #onLeave: ((key: Key) => void)[] = [];
  #taken = 0;

  constructor({ total = Infinity, perKey = Infinity, share = Infinity }: PlacesBounds) {
    this.#total = total;
    this.#perKey = perKey;
    this.#share = share;
  }

  get taken(): number {
    return this.#taken;
  }

  takenBy(key: Key): number {
    return this.#tallies.get(key)?.taken ?? 0;
  }

  /** Why a key gets no place now; undefined = it gets one. */
  full(key: Key): Full | undefined {
    return this.#fullAt(this.takenBy(key));
  }

  /** Takes a place. Returns why not. */
  take(key: Key): Place | Full {
    const tally = this.#tallies.get(key);
    return this.#fullAt(tally?.taken ?? 0) ?? this.#enter(tally ?? this.#begin(key));
  }

  /** Takes a place above all bounds: it counts for those that take one later. */
  takeAnyway(key: Key): Place {
    return this.#enter(this.#tallies.get(key) ?? this.#begin(key));
  }

  /** Calls a listener whenever a place was given back, with its key. */
  onLeave(listener: (key: Key) => void): void {
    this.#onLeave.push(listener);
  }

  #fullAt(own: number): Full | undefined {
    const free = this.#total - this.#taken;
    if (free <= 0) return 'TOTAL';
    if (own >= this.#perKey || (own > 0 && own > this.#share * (free - 1))) return 'KEY';
    return undefined;
  }

  #begin(key: Key): Tally<Key> {
    const tally = { key, taken: 0 };
    this.#tallies.set(key, tally);
    return tally;
  }

  #enter(tally: Tally<Key>): Place {
    tally.taken += 1;
    this.#taken += 1;
    return new TakenPlace(this.#leave, tally);
  }

  readonly #leave = (tally: Tally<Key>): void => {
    tally.taken -= 1;
    this.#taken -= 1;
    for (const listener of this.#onLeave) listener(tally.key);
    if (tally.taken === 0) this.#tallies.delete(tally.key);
  };
}

interface Tally<Key> {
  readonly key: Key;
  taken: number;
}

class TakenPlace<Key> implements Place {
  readonly #leave: (tally: Tally<Key>) => void;
  #tally: Tally<Key> | undefined;

  constructor(leave: (tally: Tally<Key>) => void, tally: Tally<Key>) {
    this.#leave = leave;
    this.#tally = tally;
  }

  leave(): void {
    const tally = this.#tally;
    this.#tally = undefined;
    if (tally) this.#leave(tally);
  }

  [Symbol.dispose](): void {
    this.leave();
  }
}
