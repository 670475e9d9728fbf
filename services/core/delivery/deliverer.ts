import { errorFields } from '../../../platform/log.ts';
import { traced } from '../../../platform/tracing.ts';
import { COMMIT_CHANNEL } from '../storage/announce.ts';
import type { Cipher } from '../storage/cipher.ts';
import type { Database } from '../storage/database.ts';
import { type EndpointId, purposeOf } from '../storage/delivery/delivery-row.ts';
import type { AttemptRecord } from '../storage/delivery/record-attempts.ts';
import { findWaiting, type PendingDelivery, releaseTaken, takeDue } from '../storage/delivery/take-due.ts';
import { type EndpointKey, endpointOf, isTroubled } from '../storage/endpoint/endpoint-row.ts';
import { type MerchantTerms, noTerms, termsOf } from '../storage/endpoint/endpoint-terms.ts';
import { listen } from '../storage/listen-to-commits.ts';
import { EndpointSlots } from './endpoint-slots.ts';
import { type AttemptParts, makeAttempt } from './make-attempt.ts';
import { openRecord } from './record-attempt.ts';

export interface DeliverParts extends AttemptParts {
  readonly database: Database;
  readonly cipher: Cipher;
  /** False = nothing is taken for now; absent = always true. */
  readonly isSound?: () => boolean;
  /** Maximum of concurrent attempts in this worker. */
  readonly slots?: number;
  /** Maximum of concurrent attempts at one endpoint, over all workers. */
  readonly endpointSlots?: number;
  /** Time that attempts in progress have to end when the worker stops. */
  readonly graceMs?: number;
  /** Called after each attempt. */
  readonly onAttempt?: (endpointId: EndpointId, record: AttemptRecord) => void;
}

/** Delivers notifications: takes due deliveries, attempts them, and records the results. */
export class Deliverer {
  readonly #parts: DeliverParts;
  readonly #record: ReturnType<typeof openRecord>;
  readonly #endpoints: EndpointSlots;
  readonly #slots: number;
  readonly #underWay = new Set<Promise<void>>();
  #busy = 0;
  #wake = Promise.withResolvers<void>();
  #closing = false;
  #breakingOff = false;
  #loop: Promise<void> | undefined;
  #listener: { close(): Promise<void> } | undefined;

  constructor(parts: DeliverParts) {
    const { database, clock, log } = parts;
    this.#parts = parts;
    this.#slots = parts.slots ?? DEFAULT_SLOTS;
    this.#endpoints = new EndpointSlots(parts.endpointSlots ?? DEFAULT_ENDPOINT_SLOTS);
    this.#record = openRecord(database, clock, log, (endpoint) => this.#expect(endpoint));
  }

  /** Delivers until it is closed. */
  start(databaseUrl: string): void {
    const heard = (name: string) => this.#expect(endpointOf(name));
    const connected = () => this.#wake.resolve();
    this.#listener = listen({ databaseUrl, channels: [COMMIT_CHANNEL], log: this.#parts.log, heard, connected });
    this.#loop = this.#run();
  }

  /** Makes the attempts that are due now. Returns their number. */
  async runOnce(): Promise<number> {
    await this.#look();
    const taken = await this.#take();
    await Promise.all(taken);
    return taken.length;
  }

  /** Takes nothing more, waits a moment for attempts in progress, then aborts them: another worker makes them again. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#wake.resolve();
    await Promise.all([this.#listener?.close(), this.#loop]);
    const graceOver = setTimeout(() => this.#breakOff(), this.#parts.graceMs ?? DEFAULT_GRACE_MS);
    await Promise.all(this.#underWay);
    clearTimeout(graceOver);
    await this.#parts.sender.close();
  }

  /** Takes the next batch without waiting for the one before, so that a slow endpoint holds only its own slots. */
  async #run(): Promise<void> {
    let lookAtMs = 0;
    while (!this.#closing) {
      this.#wake = Promise.withResolvers();
      try {
        if (performance.now() >= lookAtMs) lookAtMs = await this.#look();
        if ((await this.#take()).length > 0) continue;
      } catch (error) {
        this.#report('taking deliveries', error);
        lookAtMs = performance.now() + LOOK_MS;
      }
      await this.#pause(lookAtMs - performance.now());
    }
  }

  /** An endpoint may have deliveries that are due. Announcements can be lost, so the loop polls as well. */
  #expect(endpoint: EndpointKey | undefined): void {
    if (!endpoint) return;
    this.#endpoints.expect(endpoint);
    this.#wake.resolve();
  }

  async #pause(ms: number): Promise<void> {
    const timer = setTimeout(() => this.#wake.resolve(), Math.max(ms, 0));
    await this.#wake.promise;
    clearTimeout(timer);
  }

  /** Looks for endpoints with due deliveries. Returns when to look again: with many endpoints that takes long. */
  async #look(): Promise<number> {
    const startedMs = performance.now();
    const waiting = await findWaiting(this.#parts.database.query, this.#parts.clock());
    for (const endpoint of waiting) this.#endpoints.expect(endpoint);
    return startedMs + Math.max(LOOK_MS, 20 * (performance.now() - startedMs));
  }

  /** Takes deliveries that are due, and begins their attempts, which end when they are recorded. */
  async #take(): Promise<Promise<void>[]> {
    if (this.#parts.isSound?.() === false) return [];
    const wanted = this.#endpoints.next(Math.min(this.#slots - this.#busy, MAX_TAKEN));
    if (wanted.length === 0) return [];
    const { database, cipher, clock } = this.#parts;
    const askedMs = performance.now();
    const rows = await takeDue(database.query, wanted, clock());
    for (const endpoint of wanted) {
      const isOfEndpoint = (row: PendingDelivery) =>
        row.merchantId === endpoint.merchantId && row.endpointId === endpoint.endpointId;
      if (rows.filter(isOfEndpoint).length === endpoint.room) this.#endpoints.expect(endpoint);
    }
    if (rows.length === 0) return [];
    const terms = new Map(
      rows.flatMap(({ merchantId, terms }) => (terms ? [[merchantId, termsOf(terms, cipher)]] : [])),
    );
    // An attempt could last longer than our lock. They are taken again when it has ended.
    if (performance.now() - askedMs > MOST_LATE_MS) return [];
    return rows.map((row) => this.#deliver(row, terms.get(row.merchantId) ?? noTerms));
  }

  /** Attempts and records one delivery. Never rejects: an unrecorded delivery is taken again when its lock ends. */
  #deliver(row: PendingDelivery, terms: MerchantTerms): Promise<void> {
    const endpoint = { merchantId: row.merchantId, endpointId: row.endpointId };
    const startedMs = performance.now();
    this.#busy += 1;
    const slot = this.#endpoints.enter(endpoint);
    // An attempt continues the trace of the delivery's cause.
    const attributes = { 'holdfast.request_id': row.requestId, 'holdfast.attempt': row.attemptCount + 1 };
    const span = {
      name: `deliver ${purposeOf(row.endpointId)}`,
      kind: 'CLIENT',
      parent: row.traceParent,
      attributes,
    } as const;
    const done: Promise<void> = traced(span, () => this.#attempt(row, terms))
      .catch((error) => this.#report('delivering', error))
      .finally(() => {
        this.#underWay.delete(done);
        const wasFull = this.#busy >= this.#slots;
        this.#busy -= 1;
        if (this.#endpoints.leave(endpoint, slot, performance.now() - startedMs) || wasFull) this.#wake.resolve();
      });
    this.#underWay.add(done);
    return done;
  }

  async #attempt(row: PendingDelivery, ofMerchant: MerchantTerms): Promise<void> {
    const { merchantId, endpointId, requestId } = row;
    const terms = ofMerchant(endpointId);
    const { record, verdict } = await makeAttempt(this.#parts, row, terms);
    if (record.error !== undefined && this.#breakingOff) return releaseTaken(this.#parts.database.query, [row.id]);
    const troubled = isTroubled(terms.state);
    const endpoint = { merchantId, endpointId };
    await this.#record({ delivery: row, endpoint, endpointUrl: terms.url, record, verdict, troubled });
    this.#parts.onAttempt?.(endpointId, record);
    const { number, httpStatus, latencyMs, state } = record;
    const line = { deliveryId: row.id, requestId, merchantId, endpointId, number, httpStatus, latencyMs, state };
    this.#parts.log.info('delivery_attempt', line);
  }

  #breakOff(): void {
    this.#breakingOff = true;
    void this.#parts.sender.close();
  }

  #report(what: string, error: unknown): void {
    this.#parts.log.error('delivery_error', { what, ...errorFields(error) });
  }
}

const DEFAULT_SLOTS = 4_000;
export const DEFAULT_ENDPOINT_SLOTS = 200;
const MAX_TAKEN = 500;
/** Retries are not announced. */
const LOOK_MS = 500;
/** A delivery is ours for 5 s longer than an attempt may take. */
const MOST_LATE_MS = 3_000;
const DEFAULT_GRACE_MS = 5_000;
