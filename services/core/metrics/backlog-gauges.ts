import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../../platform/clock.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { settlesWithin } from '../../../platform/settles-within.ts';
import { SENT_KINDS } from '../domain/kinds.ts';
import type { Processors } from '../processor/processors.ts';
import { type Backlog, readBacklog } from '../reports/backlog.ts';
import type { Database } from '../storage/database.ts';

export interface BacklogGauges {
  readonly registry: Registry;
  readonly database: Pick<Database, 'query'>;
  readonly processors: Pick<Processors, 'names'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Several scrapers, or frequent scrapes, cause one read in this time. */
const CACHE_MS = 5_000;
/** A scrape times out after 10 s by default; a slow database must not cost it the other metrics. */
const PATIENCE_MS = 3_000;

/**
 * Gauges of what waits in the database, read when they are scraped. A database that does not answer in time never fails
 * a scrape: the gauges keep their last values, and holdfast_backlog_read_failures_total counts.
 */
export function exportBacklog({ registry, database, processors, clock, log }: BacklogGauges): void {
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `holdfast_${name}`, help, labelNames, registers });
  const openLabels = ['kind', 'processor'];
  const unknown = gauge(
    'unknown_outcomes',
    'Operations whose outcome is not known, by kind and processor; without those that it has accepted and that are ' +
      'not late.',
    openLabels,
  );
  const unknownAge = gauge(
    'unknown_outcome_oldest_age_seconds',
    'Age of the oldest unknown outcome, by kind and processor; 0 = none.',
    openLabels,
  );
  const review = gauge(
    'needs_review',
    'Operations that wait for an operator to resolve them, by kind and processor.',
    openLabels,
  );
  const frozen = gauge(
    'holds_frozen',
    'Holds frozen because their processor contradicted a final result, by processor.',
    ['processor'],
  );
  const dead = gauge('deliveries_dead', 'Deliveries given up after the last attempt.');
  const oldestDue = gauge(
    'delivery_oldest_due_age_seconds',
    'How long the oldest due delivery has been due, endpoints that are not paused; 0 = none.',
  );
  const paused = gauge('endpoints_paused', 'Endpoints that get nothing now, by kind and cause.', ['kind', 'pause']);
  const quarantined = gauge(
    'quarantined_notifications',
    'Notifications that wait for an operator to release or discard them.',
  );
  const unconfirmed = gauge('commits_unconfirmed', "Commits that wait for the synchronous standby's confirmation.");
  const unconfirmedAge = gauge(
    'commit_unconfirmed_oldest_age_seconds',
    'How long the oldest commit has waited for the synchronous standby; 0 = none waits.',
  );
  const reconcilingAge = gauge(
    'reconciling_age_seconds',
    'For how long the database has been reconciled after it went back in time; 0 = it is not.',
  );
  const queue = gauge(
    'queue_depth',
    'Deliveries that wait, by state: ready, later (not due yet), taken for an attempt.',
    ['state'],
  );
  const failures = new Counter({
    name: 'holdfast_backlog_read_failures_total',
    help: 'Scrapes that got old values of what waits, because the database did not answer in time.',
    registers,
  });

  const show = (backlog: Backlog) => {
    for (const each of [unknown, unknownAge, review, frozen]) each.reset();
    for (const processor of processors.names) {
      frozen.set({ processor }, 0);
      for (const kind of SENT_KINDS) for (const each of [unknown, unknownAge, review]) each.set({ kind, processor }, 0);
    }
    for (const { kind, processor, unknown: count, oldestS, review: inReview } of backlog.open) {
      unknown.set({ kind, processor }, count);
      unknownAge.set({ kind, processor }, oldestS);
      review.set({ kind, processor }, inReview);
    }
    for (const { processor, count } of backlog.frozenHolds) frozen.set({ processor }, count);
    dead.set(backlog.deadDeliveries);
    oldestDue.set(backlog.oldestDueS);
    paused.reset();
    for (const kind of ['webhook', 'internal']) for (const pause of PAUSES) paused.set({ kind, pause }, 0);
    for (const { kind, pause, count } of backlog.paused) paused.set({ kind, pause }, count);
    quarantined.set(backlog.quarantined);
    unconfirmed.set(backlog.unconfirmed.count);
    unconfirmedAge.set(backlog.unconfirmed.oldestS);
    reconcilingAge.set(backlog.reconcilingS);
    for (const [state, count] of Object.entries(backlog.queue)) queue.set({ state }, count);
  };

  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async () => {
    try {
      show(await readBacklog(database.query, clock()));
      readAtMs = performance.now();
    } catch (error) {
      failures.inc();
      log.warn('backlog_not_read', { ...errorFields(error) });
    } finally {
      reading = undefined;
    }
  };
  const patiently = async () => {
    reading ??= read();
    if (!(await settlesWithin(PATIENCE_MS, reading))) failures.inc();
  };
  let refreshing: Promise<void> | undefined;
  // A scrape collects all gauges at once, and each waits for the one reading.
  const refresh = async () => {
    if (performance.now() - readAtMs < CACHE_MS) return;
    refreshing ??= patiently().finally(() => {
      refreshing = undefined;
    });
    await refreshing;
  };
  const gauges = [
    unknown,
    unknownAge,
    review,
    frozen,
    dead,
    oldestDue,
    paused,
    quarantined,
    unconfirmed,
    unconfirmedAge,
    reconcilingAge,
  ];
  for (const each of [...gauges, queue, failures]) {
    (each as unknown as { collect(): Promise<void> }).collect = refresh;
  }
}

const PAUSES = ['GONE', 'OPERATOR', 'BREAKER'];
