/** A bounded number of places for each key, for what is under way. */
export class Places {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place. Returns what gives it back, once however often it is called; undefined when all are taken. */
  take(key: string): (() => void) | undefined {
    const count = this.#taken.get(key) ?? 0;
    if (count >= this.#most) return undefined;
    this.#taken.set(key, count + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#taken.get(key) ?? 0) - 1;
      if (left > 0) this.#taken.set(key, left);
      else this.#taken.delete(key);
    };
  }

  /** How many keys have a place. */
  get size(): number {
    return this.#taken.size;
  }
}
