import { errorFields } from '../../../proto/log.ts';
import { traced } from '../../../proto/tracing.ts';
import { type AttemptParts, makeAttempt } from '../delivery/attempt.ts';
import { allowanceOf } from '../delivery/breaker.ts';
import type { Terms } from '../delivery/terms.ts';
import { FRESH } from '../domain/endpoint.ts';
import type { Database } from '../storage/database.ts';
import type { EndpointKind } from '../storage/delivery.ts';
import { type PendingDelivery, readPending } from '../storage/due-deliveries.ts';
import type { EndpointKey } from '../storage/endpoint.ts';
import type { EndpointTerms } from '../storage/endpoint-terms.ts';
import type { AttemptRecord } from '../storage/record-attempts.ts';
import { Crowd } from './crowd.ts';
import type { Queue, Rung } from './queue.ts';
import { openSettler, resumesAfterProbe, type Settlement, type Settler } from './settle-attempts.ts';

/** What delivering needs. */
export interface DeliverParts extends AttemptParts {
  readonly database: Database;
  readonly queue: Queue;
  readonly terms: Terms;
  /** Most attempts at once, in this worker. */
  readonly slots?: number;
  /** Most attempts at once at one endpoint, over all workers. */
  readonly endpointSlots?: number;
  /** How long attempts under way may go on when the worker stops. */
  readonly graceMs?: number;
  /** Told of each attempt that was made. */
  readonly onAttempt?: (endpointKind: EndpointKind, record: AttemptRecord) => void;
}

/** Delivers notifications: takes alarms, attempts what is due, records. */
export interface Deliverer {
  /** Takes the alarms that have gone off, once, and settles them all. `early` takes all alarms. Answers how many. */
  runOnce(options?: { early?: boolean }): Promise<number>;
  /** Delivers until it is closed. */
  start(): Promise<void>;
  /** Takes no more; waits a moment for attempts under way, then breaks them off (they are made again, by another worker). */
  close(): Promise<void>;
}

export function openDeliverer(parts: DeliverParts): Deliverer {
  return new Delivering(parts);
}

class Delivering implements Deliverer {
  readonly #parts: DeliverParts;
  readonly #settler: Settler;
  readonly #crowd: Crowd;
  readonly #slots: number;
  readonly #underWay = new Set<Promise<void>>();
  #wake = Promise.withResolvers<void>();
  #closing = false;
  #breakingOff = false;
  #loop: Promise<void> | undefined;

  constructor(parts: DeliverParts) {
    this.#parts = parts;
    this.#settler = openSettler({ ...parts, onChange: ({ merchantId }) => parts.terms.forget(merchantId) });
    this.#slots = parts.slots ?? DEFAULT_SLOTS;
    this.#crowd = new Crowd(parts.endpointSlots ?? DEFAULT_ENDPOINT_SLOTS);
  }

  async runOnce({ early = false } = {}): Promise<number> {
    const taken = await this.#take(early);
    await this.#handle(taken);
    await this.#settler.idle();
    return taken.length;
  }

  async start(): Promise<void> {
    await this.#parts.queue.listen(() => this.#wake.resolve());
    this.#loop = this.#run();
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#wake.resolve();
    await this.#loop;
    const graceOver = setTimeout(() => this.#breakOff(), this.#parts.graceMs ?? DEFAULT_GRACE_MS);
    await Promise.all(this.#underWay);
    clearTimeout(graceOver);
    await this.#settler.idle();
    await this.#parts.sender.close();
  }

  /** Does not wait for one batch before it takes the next: whoever is slow holds its own slots only. */
  async #run(): Promise<void> {
    while (!this.#closing) {
      this.#wake = Promise.withResolvers();
      const taken = await this.#take(false).catch((error) => this.#report('taking alarms', error));
      if (taken && taken.length > 0) {
        const handled: Promise<void> = this.#handle(taken).finally(() => this.#underWay.delete(handled));
        this.#underWay.add(handled);
      } else await this.#pause();
    }
  }

  /** Sleeps until there may be something to do. */
  async #pause(): Promise<void> {
    const timer = setTimeout(() => this.#wake.resolve(), POLL_MS);
    await this.#wake.promise;
    clearTimeout(timer);
  }

  async #take(early: boolean): Promise<Rung[]> {
    const limit = Math.min(this.#slots - this.#crowd.size, MAX_TAKEN);
    if (limit <= 0) return [];
    const { endpointSlots } = this.#crowd;
    const taken = await this.#parts.queue.fetch({
      limit,
      endpointLimit: endpointSlots,
      without: [...this.#crowd.full(), ...this.#settler.moving()],
      early,
    });
    for (const { endpoint } of taken) this.#crowd.enter(endpoint);
    return taken;
  }

  /** Settles a batch of alarms. Never rejects: what could not be settled is taken again when its time is over. */
  async #handle(taken: readonly Rung[]): Promise<void> {
    if (taken.length === 0) return;
    try {
      const ids = taken.map(({ id }) => id);
      const rows = new Map((await readPending(this.#parts.database.query, ids)).map((row) => [row.id, row]));
      const terms = await this.#parts.terms.of([...rows.values()].map((row) => row.merchantId));
      const settle = (rung: Rung) => {
        const row = rows.get(rung.id);
        const settled = row ? this.#settle(rung, row, terms.get(row.merchantId) ?? NO_TERMS) : this.#drop(rung);
        return settled.catch((error) => this.#report('settling an alarm', error)).finally(() => this.#leave(rung));
      };
      await Promise.all(taken.map(settle));
    } catch (error) {
      this.#report('reading deliveries', error);
      for (const rung of taken) this.#leave(rung);
    }
  }

  #leave({ endpoint }: Rung): void {
    const wasFull = this.#crowd.size >= this.#slots;
    if (this.#crowd.leave(endpoint) || wasFull) this.#wake.resolve();
  }

  /** Removes the alarm of a delivery that waits for nothing. */
  #drop(rung: Rung): Promise<void> {
    return this.#settler.settle({ rung });
  }

  async #settle(rung: Rung, row: PendingDelivery, terms: EndpointTerms): Promise<void> {
    const now = this.#parts.clock();
    const state = terms.states[row.endpointKind];
    const allowance = allowanceOf(state, now);
    const isEarly = row.dueAt.getTime() > now.getTime() + CLOCK_TOLERANCE_MS;
    if (isEarly) return this.#settler.settle({ rung, nextAt: row.dueAt });
    if (allowance === 'NOTHING') return this.#settler.settle({ rung, nextAt: resumesAfterProbe(state) });
    if (!this.#crowd.start(rung.endpoint, allowance === 'PROBE')) {
      return this.#settler.settle({ rung, nextAt: new Date(now.getTime() + PUT_OFF_MS) });
    }
    const startedMs = performance.now();
    try {
      await this.#settler.settle(await this.#attempt(rung, row, terms));
    } finally {
      this.#crowd.finish(rung.endpoint, performance.now() - startedMs);
    }
  }

  /** An attempt goes on with the trace of what caused the delivery. */
  #attempt(rung: Rung, row: PendingDelivery, terms: EndpointTerms): Promise<Settlement> {
    const attributes = { 'holdfast.request_id': row.requestId, 'holdfast.attempt': row.attemptCount + 1 };
    const span = { name: `deliver ${row.endpointKind}`, kind: 'CLIENT', parent: row.traceParent, attributes } as const;
    return traced(span, () => this.#tracedAttempt(rung, row, terms));
  }

  async #tracedAttempt(rung: Rung, row: PendingDelivery, terms: EndpointTerms): Promise<Settlement> {
    const { record, says } = await makeAttempt(this.#parts, row, terms);
    if (record.error !== undefined && this.#breakingOff) return { rung, nextAt: this.#parts.clock() };
    const endpoint: EndpointKey = { merchantId: row.merchantId, kind: row.endpointKind };
    this.#parts.onAttempt?.(row.endpointKind, record);
    this.#parts.log.info('delivery_attempt', {
      deliveryId: row.id,
      requestId: row.requestId,
      merchantId: endpoint.merchantId,
      endpointKind: endpoint.kind,
      number: record.number,
      httpStatus: record.httpStatus,
      latencyMs: record.latencyMs,
      state: record.state,
    });
    const nextAt = record.dueAt === undefined ? undefined : new Date(record.dueAt);
    const { failureCount, pause } = terms.states[row.endpointKind];
    return { rung, nextAt, attempt: { endpoint, record, says, troubled: failureCount > 0 || pause !== null } };
  }

  #breakOff(): void {
    this.#breakingOff = true;
    void this.#parts.sender.close();
  }

  #report(what: string, error: unknown): undefined {
    this.#parts.log.error('delivery_error', { what, ...errorFields(error) });
  }
}

/** Terms of a merchant that is not there: every attempt fails. */
const NO_TERMS: EndpointTerms = {
  urls: { webhook: null, internal: null },
  states: { webhook: FRESH, internal: FRESH },
  secrets: [],
};

const DEFAULT_SLOTS = 4_000;
const DEFAULT_ENDPOINT_SLOTS = 200;
const MAX_TAKEN = 500;
/** A ring is only a hint, and alarms that go off later do not ring at all. */
const POLL_MS = 500;
/** Machines' clocks agree within a second. */
const CLOCK_TOLERANCE_MS = 1_000;
const PUT_OFF_MS = 2_000;
const DEFAULT_GRACE_MS = 5_000;
