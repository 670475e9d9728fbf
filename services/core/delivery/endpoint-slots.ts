import { type Place, Places } from '../../../platform/places.ts';
import type { Wanted } from '../storage/delivery/take-due.ts';
import { type EndpointKey, endpointName } from '../storage/endpoint/endpoint-row.ts';

/** The endpoints that may have due deliveries, and their attempts in progress. Slow endpoints get fewer slots. */
export class EndpointSlots {
  readonly #slots: number;
  /** In the order of their turn. */
  readonly #due = new Map<string, EndpointKey>();
  readonly #busy = new Places({});
  readonly #slowMs = new Map<string, number>();

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** The endpoint may have deliveries that are due. */
  expect(endpoint: EndpointKey): void {
    this.#due.set(endpointName(endpoint), endpoint);
  }

  /** Whose deliveries to take next, at most `limit`, shared among those whose turn it is; their turn is over then. */
  next(limit: number): Wanted[] {
    const free = [...this.#due].filter(([name]) => !this.#isFull(name)).slice(0, limit);
    const share = Math.floor(limit / free.length);
    return free.map(([name, endpoint]) => {
      this.#due.delete(name);
      const cap = this.#slotsOf(name);
      return { ...endpoint, cap, room: Math.min(cap - this.#busy.takenBy(name), share) };
    });
  }

  /** Takes a slot for an attempt; next() has seen to it that one is free. */
  enter(endpoint: EndpointKey): Place {
    return this.#busy.takeAnyway(endpointName(endpoint));
  }

  /** Gives the slot back. `latencyMs` = how long the endpoint took. Returns true when others may use it now. */
  leave(endpoint: EndpointKey, slot: Place, latencyMs: number): boolean {
    const name = endpointName(endpoint);
    const wasFull = this.#isFull(name);
    slot.leave();
    const averageMs = (this.#slowMs.get(name) ?? latencyMs) * 0.8 + latencyMs * 0.2;
    if (averageMs >= SLOW_MS) this.#slowMs.set(name, averageMs);
    else this.#slowMs.delete(name);
    return wasFull && !this.#isFull(name);
  }

  /**
   * Full from three quarters of its slots on, so that deliveries are taken in batches. From half on, batches were twice
   * as large, but too few were in progress meanwhile (measured: 1.1 to 1.5 times as many a second now).
   */
  #isFull(name: string): boolean {
    return this.#busy.takenBy(name) * 4 > this.#slotsOf(name) * 3;
  }

  #slotsOf(name: string): number {
    return this.#slowMs.has(name) ? Math.min(SLOW_SLOTS, this.#slots) : this.#slots;
  }
}

/** Average latency of a slow endpoint. A receiver should answer first and work afterwards. */
const SLOW_MS = 1_000;
export const SLOW_SLOTS = 10;
