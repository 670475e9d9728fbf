import type { KnownHold } from '../storage/hold/read-holds.ts';

/**
 * The holds as this process wrote them last, so that the next write of a hold begins without reading it. Each is used
 * once: a write that finds its hold changed since reads it when it is tried again.
 */
export class LastWritten {
  readonly #holds = new Map<string, Written>();

  /** Keeps a hold. `storing` is the submission with which it was written; absent = the hold was placed. */
  keep(hold: KnownHold, storing?: string): void {
    const key = keyOf(hold);
    this.#holds.delete(key);
    this.#holds.set(key, { hold, storing });
    const [oldest] = this.#holds.keys();
    if (this.#holds.size > MOST && oldest !== undefined) this.#holds.delete(oldest);
  }

  /** Returns the hold whose handle has this hash; undefined = it is not kept. */
  take(handle: Handle): KnownHold | undefined {
    return this.#take(handle)?.hold;
  }

  /** Returns it only as the submission that ends left it: another state may not have its reservation. */
  takeAsStored(handle: Handle, requestId: string): KnownHold | undefined {
    const written = this.#take(handle);
    return written?.storing === requestId ? written.hold : undefined;
  }

  #take(handle: Handle): Written | undefined {
    const key = keyOf(handle);
    const written = this.#holds.get(key);
    this.#holds.delete(key);
    return written;
  }
}

type Handle = Pick<KnownHold, 'idHash'>;

interface Written {
  readonly hold: KnownHold;
  readonly storing: string | undefined;
}

/** The name of a hold among the writes of this process. */
export const keyOf = ({ idHash }: Handle) => idHash.toString('hex');

/** About 4 MB. */
const MOST = 2_000;
