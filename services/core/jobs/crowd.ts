/**
 * Who is at which endpoint right now, in this worker. An endpoint that answers slowly gets few slots, so that even many slow ones
 * together leave room for the others.
 */
export class Crowd {
  /** Most attempts at once at one endpoint. */
  readonly endpointSlots: number;
  /** Alarms taken, attempted or not. */
  readonly #present = new Map<string, number>();
  /** Attempts under way. */
  readonly #busy = new Map<string, number>();
  readonly #slowMs = new Map<string, number>();
  #size = 0;

  constructor(endpointSlots: number) {
    this.endpointSlots = endpointSlots;
  }

  /** Alarms taken and not settled, over all endpoints. */
  get size(): number {
    return this.#size;
  }

  enter(endpoint: string): void {
    this.#size++;
    add(this.#present, endpoint, 1);
  }

  /** Answers whether somebody may have been waiting for the slot. */
  leave(endpoint: string): boolean {
    const wasFull = this.#isFull(endpoint);
    this.#size--;
    add(this.#present, endpoint, -1);
    return wasFull && !this.#isFull(endpoint);
  }

  /** Endpoints of which no more alarms should be taken. */
  full(): string[] {
    return [...this.#present.keys()].filter((endpoint) => this.#isFull(endpoint));
  }

  /** Takes a slot for an attempt; false = there is none. An endpoint that is probed has one. */
  start(endpoint: string, probe: boolean): boolean {
    if ((this.#busy.get(endpoint) ?? 0) >= (probe ? 1 : this.#slotsOf(endpoint))) return false;
    add(this.#busy, endpoint, 1);
    return true;
  }

  /** Gives the slot back. `latencyMs` = how long the endpoint took. */
  finish(endpoint: string, latencyMs: number): void {
    add(this.#busy, endpoint, -1);
    const averageMs = (this.#slowMs.get(endpoint) ?? latencyMs) * 0.8 + latencyMs * 0.2;
    if (averageMs >= SLOW_MS) this.#slowMs.set(endpoint, averageMs);
    else this.#slowMs.delete(endpoint);
  }

  /** Full from half its slots on, so that alarms are taken by the handful: to take one costs as much as to take fifty. */
  #isFull(endpoint: string): boolean {
    return (this.#present.get(endpoint) ?? 0) * 2 > this.#slotsOf(endpoint);
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

/** From here on an endpoint counts as slow. A receiver should do its work after it has answered. */
const SLOW_MS = 1_000;
const SLOW_SLOTS = 10;
