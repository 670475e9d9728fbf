import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { BooksObserver } from '../books/books.ts';
import type { Processor } from '../processor/processor.ts';
import type { Connections } from '../storage/database.ts';
import { type EndpointId, purposeOf } from '../storage/delivery/delivery-row.ts';
import type { AttemptRecord } from '../storage/delivery/record-attempts.ts';

/** The metrics of a process of core. */
export type Metrics = ReturnType<typeof openMetrics>;

/** The parts of a processor that metrics read. */
export type WatchedProcessor = Pick<Processor, 'isAvailable'> & { readonly callers: { readonly waiting: number } };

/** Opens the metrics of one process; `runtime` adds Node's. No label identifies a request, a hold or a merchant. */
export function openMetrics({ runtime = false } = {}) {
  const registry = new Registry();
  const registers = [registry];
  if (runtime) collectDefaultMetrics({ register: registry });
  const calls = new Counter({
    name: 'holdfast_rpc_requests_total',
    help: 'Calls to core, by method and code: OK, the word of the refusal, or the status.',
    labelNames: ['method', 'code'],
    registers,
  });
  const callSeconds = new Histogram({
    name: 'holdfast_rpc_duration_seconds',
    help: 'How long calls to core took, by method.',
    labelNames: ['method'],
    buckets: CALL_SECONDS,
    registers,
  });
  const operations = new Counter({
    name: 'holdfast_operations_total',
    help: 'Final results, by kind, status and reason (the statusInfo of the notification).',
    labelNames: ['kind', 'status', 'reason'],
    registers,
  });
  const batches = new Histogram({
    name: 'holdfast_gather_batch_size',
    help: 'How many requests shared a commit, by what was written.',
    labelNames: ['write'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const processorSeconds = new Histogram({
    name: 'holdfast_processor_call_duration_seconds',
    help:
      'How long calls to a processor took, by processor, call and answer; UNKNOWN = timeout, broken connection ' +
      'or no clear answer.',
    labelNames: ['processor', 'call', 'answer'],
    buckets: CALL_SECONDS,
    registers,
  });
  const attempts = new Counter({
    name: 'holdfast_delivery_attempts_total',
    help: 'Attempts to deliver notifications, by endpoint kind and result: delivered, retry, or dead (given up).',
    labelNames: ['endpoint_kind', 'result'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'holdfast_delivery_attempt_duration_seconds',
    help: 'How long attempts to deliver took, by endpoint kind.',
    labelNames: ['endpoint_kind'],
    buckets: CALL_SECONDS,
    registers,
  });
  const inFlight = new Gauge({
    name: 'holdfast_calls_in_flight',
    help: 'Calls to core that are being answered; MAX_CALLS_IN_FLIGHT bounds them.',
    registers,
  });
  const refused = new Counter({
    name: 'holdfast_calls_refused_total',
    help:
      'Calls to core that were refused because too many were in flight: in all (TOTAL), or too many of one ' +
      "merchant's (MERCHANT).",
    labelNames: ['reason'],
    registers,
  });
  const eventConflicts = new Counter({
    name: 'holdfast_processor_event_conflicts_total',
    help: "Events of the processor that were refused because their event_id was another event's before.",
    registers,
  });
  const violations = new Counter({
    name: 'holdfast_processor_contract_violations_total',
    help: 'Messages of processors that broke the contract and were not believed, by processor, method and field.',
    labelNames: ['processor', 'method', 'field'],
    registers,
  });
  const processorRefusals = new Counter({
    name: 'holdfast_processor_refusals_total',
    help:
      'Calls for new holds and OCTs that were refused because a processor does not answer, or too many calls ' +
      'wait for it, by processor.',
    labelNames: ['processor'],
    registers,
  });
  const processors = new Map<string, WatchedProcessor>();
  new Gauge({
    name: 'holdfast_processor_available',
    help: 'Whether a processor answers, by processor; 0 = new holds and OCTs for it are refused until it does.',
    labelNames: ['processor'],
    registers,
    collect() {
      for (const [processor, watched] of processors) this.set({ processor }, watched.isAvailable() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'holdfast_processor_callers_waiting',
    help:
      'Calls to core that wait for the answer of a processor, by processor; with several, a quarter of ' +
      'MAX_CALLS_IN_FLIGHT may.',
    labelNames: ['processor'],
    registers,
    collect() {
      for (const [processor, { callers }] of processors) this.set({ processor }, callers.waiting);
    },
  });
  return {
    registry,
    admission: {
      inFlight: (count: number) => inFlight.set(count),
      refused: (reason: 'TOTAL' | 'MERCHANT') => refused.inc({ reason }),
    },
    books: {
      ended: ({ kind, status, statusInfo }) => operations.inc({ kind, status, reason: statusInfo }),
      gathered: (write, size) => batches.observe({ write }, size),
    } satisfies BooksObserver,
    /** A call that ended. `code` is the refusal's word, OK, or the status. */
    rpc(method: string, code: string, durationMs: number): void {
      calls.inc({ method, code });
      callSeconds.observe({ method }, durationMs / 1_000);
    },
    /** A call to the processor that ended; `answer` is UNKNOWN when there was none to rely on. */
    processorCall: (processor: string, call: string, answer: string, durationMs: number) =>
      processorSeconds.observe({ processor, call, answer }, durationMs / 1_000),
    processorRefused: (processor: string) => processorRefusals.inc({ processor }),
    watchProcessor: (processor: string, watched: WatchedProcessor) => void processors.set(processor, watched),
    deliveryAttempt(endpointId: EndpointId, { state, latencyMs }: AttemptRecord): void {
      const endpoint_kind = purposeOf(endpointId);
      attempts.inc({ endpoint_kind, result: ATTEMPT_RESULT[state] });
      attemptSeconds.observe({ endpoint_kind }, latencyMs / 1_000);
    },
    contractViolation: (processor: string, method: string, field: string) =>
      violations.inc({ processor, method, field }),
    eventConflict: () => eventConflicts.inc(),
    watchPool(connections: () => Connections): void {
      new Gauge({
        name: 'holdfast_database_connections',
        help: 'Connections of the database pool, by state; waiting = statements that wait for one.',
        labelNames: ['state'],
        registers,
        collect() {
          for (const [state, count] of Object.entries(connections())) this.set({ state }, count);
        },
      });
    },
    watchStandby(aloneS: () => number): void {
      new Gauge({
        name: 'holdfast_primary_alone_seconds',
        help:
          'For how long this process has seen the primary serve without its synchronous standby; 0 = it has one, or ' +
          'is expected to have none (SYNCHRONOUS_STANDBY).',
        registers,
        collect() {
          this.set(aloneS());
        },
      });
    },
    watchClock(offsetS: () => number | undefined): void {
      new Gauge({
        name: 'holdfast_clock_offset_seconds',
        help: "How far this process's clock is ahead of the database's; beyond 7.5 s either way it is not ready.",
        registers,
        collect() {
          this.set(offsetS() ?? Number.NaN);
        },
      });
    },
  };
}

/** From the time of one commit to the timeout of an attempt or a call. */
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT_RESULT = { DELIVERED: 'delivered', PENDING: 'retry', DEAD: 'dead' } as const;
