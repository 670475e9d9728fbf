import { errorFields } from '../../../platform/log.ts';
import { traced } from '../../../platform/tracing.ts';
import type { Cipher } from '../cipher.ts';
import type { Database } from '../storage/database.ts';
import type { EndpointKind } from '../storage/delivery/delivery.ts';
import { type PendingDelivery, readPending } from '../storage/delivery/due-deliveries.ts';
import type { AttemptRecord } from '../storage/delivery/record-attempts.ts';
import { type EndpointKey, FRESH } from '../storage/endpoint/endpoint.ts';
import { type EndpointTerms, readEndpointTerms } from '../storage/endpoint/endpoint-terms.ts';
import { type AttemptParts, makeAttempt } from './attempt.ts';
import { type AttemptRecorder, type HandledAlarm, openAttemptRecorder, resumesAfterProbe } from './attempt-recorder.ts';
import { allowanceOf } from './breaker.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import type { Queue, TakenAlarm } from './queue.ts';

/** What delivering needs. */
export interface DeliverParts extends AttemptParts {
  readonly database: Database;
  readonly queue: Queue;
  readonly cipher: Cipher;
  /** Maximum of concurrent attempts in this worker. */
  readonly slots?: number;
  /** Maximum of concurrent attempts at one endpoint, over all workers. */
  readonly endpointSlots?: number;
  /** How long attempts in progress may continue when the worker stops. */
  readonly graceMs?: number;
  /** Called after each attempt. */
  readonly onAttempt?: (endpointKind: EndpointKind, record: AttemptRecord) => void;
}

/** Delivers notifications: takes alarms, attempts what is due, records. */
export class Deliverer {
  readonly #parts: DeliverParts;
  readonly #recorder: AttemptRecorder;
  readonly #limit: ConcurrencyLimit;
  readonly #slots: number;
  readonly #underWay = new Set<Promise<void>>();
  #wake = Promise.withResolvers<void>();
  #closing = false;
  #breakingOff = false;
  #loop: Promise<void> | undefined;

  constructor(parts: DeliverParts) {
    this.#parts = parts;
    this.#recorder = openAttemptRecorder(parts);
    this.#slots = parts.slots ?? DEFAULT_SLOTS;
    this.#limit = new ConcurrencyLimit(parts.endpointSlots ?? DEFAULT_ENDPOINT_SLOTS);
  }

  /** Takes the due alarms once and handles them. `early` takes all alarms. Returns their number. */
  async runOnce({ early = false } = {}): Promise<number> {
    const taken = await this.#take(early);
    await this.#handle(taken);
    await this.#recorder.idle();
    return taken.length;
  }

  /** Delivers until it is closed. */
  start(): void {
    this.#parts.queue.listen(() => this.#wake.resolve());
    this.#loop = this.#run();
  }

  /** Takes no more alarms, waits a moment for attempts in progress, then aborts them: another worker makes them again. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#wake.resolve();
    await this.#loop;
    const graceOver = setTimeout(() => this.#breakOff(), this.#parts.graceMs ?? DEFAULT_GRACE_MS);
    await Promise.all(this.#underWay);
    clearTimeout(graceOver);
    await this.#recorder.idle();
    await this.#parts.sender.close();
  }

  /** Takes the next batch without waiting for the one before, so that a slow endpoint holds only its own slots. */
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

  /** Waits for an alarm or the poll interval. */
  async #pause(): Promise<void> {
    const timer = setTimeout(() => this.#wake.resolve(), POLL_MS);
    await this.#wake.promise;
    clearTimeout(timer);
  }

  async #take(early: boolean): Promise<TakenAlarm[]> {
    const limit = Math.min(this.#slots - this.#limit.size, MAX_TAKEN);
    if (limit <= 0) return [];
    const { endpointSlots } = this.#limit;
    const taken = await this.#parts.queue.fetch({
      limit,
      endpointLimit: endpointSlots,
      without: [...this.#limit.full(), ...this.#recorder.moving()],
      early,
    });
    for (const { endpoint } of taken) this.#limit.enter(endpoint);
    return taken;
  }

  /** Handles a batch of alarms. Never rejects: an alarm that was not handled is taken again after 15 s. */
  async #handle(taken: readonly TakenAlarm[]): Promise<void> {
    if (taken.length === 0) return;
    try {
      const ids = taken.map(({ id }) => id);
      const rows = new Map((await readPending(this.#parts.database.query, ids)).map((row) => [row.id, row]));
      const merchantIds = new Set([...rows.values()].map((row) => row.merchantId));
      const terms = await readEndpointTerms(this.#parts.database.query, this.#parts.cipher, [...merchantIds]);
      const handle = (alarm: TakenAlarm) => {
        const row = rows.get(alarm.id);
        // A delivery that is not pending needs no alarm any more.
        const handled = row
          ? this.#deliver(alarm, row, terms.get(row.merchantId) ?? NO_TERMS)
          : this.#recorder.record({ alarm });
        return handled.catch((error) => this.#report('handling an alarm', error)).finally(() => this.#leave(alarm));
      };
      await Promise.all(taken.map(handle));
    } catch (error) {
      this.#report('reading deliveries', error);
      for (const alarm of taken) this.#leave(alarm);
    }
  }

  #leave({ endpoint }: TakenAlarm): void {
    const wasFull = this.#limit.size >= this.#slots;
    if (this.#limit.leave(endpoint) || wasFull) this.#wake.resolve();
  }

  async #deliver(alarm: TakenAlarm, row: PendingDelivery, terms: EndpointTerms): Promise<void> {
    const now = this.#parts.clock();
    const state = terms.states[row.endpointKind];
    const allowance = allowanceOf(state, now);
    const isEarly = row.dueAt.getTime() > now.getTime() + CLOCK_TOLERANCE_MS;
    if (isEarly) return this.#recorder.record({ alarm, nextAt: row.dueAt });
    if (allowance === 'NOTHING') return this.#recorder.record({ alarm, nextAt: resumesAfterProbe(state) });
    if (!this.#limit.start(alarm.endpoint, allowance === 'PROBE')) {
      return this.#recorder.record({ alarm, nextAt: new Date(now.getTime() + PUT_OFF_MS) });
    }
    const startedMs = performance.now();
    try {
      await this.#recorder.record(await this.#attempt(alarm, row, terms));
    } finally {
      this.#limit.finish(alarm.endpoint, performance.now() - startedMs);
    }
  }

  /** An attempt continues the trace of what caused the delivery. */
  #attempt(alarm: TakenAlarm, row: PendingDelivery, terms: EndpointTerms): Promise<HandledAlarm> {
    const attributes = { 'holdfast.request_id': row.requestId, 'holdfast.attempt': row.attemptCount + 1 };
    const span = { name: `deliver ${row.endpointKind}`, kind: 'CLIENT', parent: row.traceParent, attributes } as const;
    return traced(span, () => this.#tracedAttempt(alarm, row, terms));
  }

  async #tracedAttempt(alarm: TakenAlarm, row: PendingDelivery, terms: EndpointTerms): Promise<HandledAlarm> {
    const { record, verdict } = await makeAttempt(this.#parts, row, terms);
    if (record.error !== undefined && this.#breakingOff) return { alarm, nextAt: this.#parts.clock() };
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
    return { alarm, nextAt, attempt: { endpoint, record, verdict, troubled: failureCount > 0 || pause !== null } };
  }

  #breakOff(): void {
    this.#breakingOff = true;
    void this.#parts.sender.close();
  }

  #report(what: string, error: unknown): undefined {
    this.#parts.log.error('delivery_error', { what, ...errorFields(error) });
  }
}

/** Terms of a merchant that does not exist: every attempt fails. */
const NO_TERMS: EndpointTerms = {
  urls: { webhook: null, internal: null },
  states: { webhook: FRESH, internal: FRESH },
  secrets: [],
};

const DEFAULT_SLOTS = 4_000;
const DEFAULT_ENDPOINT_SLOTS = 200;
const MAX_TAKEN = 500;
/** Not every alarm is announced: those set for later never are. */
const POLL_MS = 500;
/** Machines' clocks agree within a second. */
const CLOCK_TOLERANCE_MS = 1_000;
const PUT_OFF_MS = 2_000;
const DEFAULT_GRACE_MS = 5_000;
