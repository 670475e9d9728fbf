/** Limits the concurrent attempts of this worker at each endpoint. A slow endpoint gets fewer slots, which leaves room for others. */
export class ConcurrencyLimit {
  /** Maximum of concurrent attempts at one endpoint. */
  readonly endpointSlots: number;
  /** Alarms taken for each endpoint, whether an attempt has started or not. */
  readonly #taken = new Map<string, number>();
  /** Attempts in progress at each endpoint. */
  readonly #busy = new Map<string, number>();
  readonly #slowMs = new Map<string, number>();
  #size = 0;

  constructor(endpointSlots: number) {
    this.endpointSlots = endpointSlots;
  }

  /** Alarms taken and not handled yet, over all endpoints. */
  get size(): number {
    return this.#size;
  }

  enter(endpoint: string): void {
    this.#size++;
    add(this.#taken, endpoint, 1);
  }

  /** Returns true when this makes room at an endpoint that had none. */
  leave(endpoint: string): boolean {
    const wasFull = this.#isFull(endpoint);
    this.#size--;
    add(this.#taken, endpoint, -1);
    return wasFull && !this.#isFull(endpoint);
  }

  /** Endpoints whose alarms should not be taken now. */
  full(): string[] {
    return [...this.#taken.keys()].filter((endpoint) => this.#isFull(endpoint));
  }

  /** Takes a slot for an attempt; returns false when none is free. An endpoint that is probed has one slot. */
  start(endpoint: string, probe: boolean): boolean {
    if ((this.#busy.get(endpoint) ?? 0) >= (probe ? 1 : this.#slotsOf(endpoint))) return false;
    add(this.#busy, endpoint, 1);
    return true;
  }

  /** Returns the slot. `latencyMs` = how long the endpoint took. */
  finish(endpoint: string, latencyMs: number): void {
    add(this.#busy, endpoint, -1);
    const averageMs = (this.#slowMs.get(endpoint) ?? latencyMs) * 0.8 + latencyMs * 0.2;
    if (averageMs >= SLOW_MS) this.#slowMs.set(endpoint, averageMs);
    else this.#slowMs.delete(endpoint);
  }

  /** Full from half its slots on, so that alarms are taken in batches: taking one costs as much as taking fifty. */
  #isFull(endpoint: string): boolean {
    return (this.#taken.get(endpoint) ?? 0) * 2 > this.#slotsOf(endpoint);
  }

  #slotsOf(endpoint: string): number {
    return this.#slowMs.has(endpoint) ? Math.min(SLOW_SLOTS, this.endpointSlots) : this.endpointSlots;
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}

/** Average latency of a slow endpoint. A receiver should answer first and work afterwards. */
const SLOW_MS = 1_000;
const SLOW_SLOTS = 10;
