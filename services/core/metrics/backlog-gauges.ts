import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../../platform/clock.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { settlesWithin } from '../../../platform/settles-within.ts';
import { CONTRADICTION_KINDS } from '../domain/contradiction.ts';
import { SENT_KINDS } from '../domain/kinds.ts';
import type { Processors } from '../processor/processors.ts';
import { type BacklogGauge, readBacklog, type Sample } from '../reports/backlog.ts';
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

/** A gauge's help, and its labels with the values that are shown as 0 when there is nothing. */
type Described = readonly [help: string, labels?: Readonly<Record<string, readonly string[]>>];

function gaugesOf(processor: readonly string[]): Readonly<Record<BacklogGauge, Described>> {
  const ofKind = { kind: SENT_KINDS, processor };
  return {
    unknown_outcomes: [
      'Operations whose outcome is not known, by kind and processor; without those that it has accepted and that are ' +
        'not late.',
      ofKind,
    ],
    unknown_outcome_oldest_age_seconds: ['Age of the oldest unknown outcome, by kind and processor; 0 = none.', ofKind],
    needs_review: ['Operations that wait for an operator to resolve them, by kind and processor.', ofKind],
    holds_frozen: ['Holds frozen because their processor contradicted a final result, by processor.', { processor }],
    contradictions_open: [
      'What processors contradicted and nobody has resolved, by kind and processor.',
      { kind: CONTRADICTION_KINDS, processor },
    ],
    deliveries_dead: ['Deliveries given up after the last attempt.'],
    delivery_oldest_due_age_seconds: [
      'How long the oldest due delivery has been due, endpoints that are not paused; 0 = none.',
    ],
    endpoints_paused: [
      'Endpoints that get nothing now, by kind and cause.',
      { kind: ['webhook', 'internal'], pause: ['GONE', 'OPERATOR', 'BREAKER'] },
    ],
    endpoints_failing: [
      'Endpoints whose last attempt got no 2xx, whatever the answer, by kind.',
      { kind: ['webhook', 'internal'] },
    ],
    api_keys_expiring: ['Live API keys that expire within 14 days.'],
    quarantined_notifications: ['Notifications that wait for an operator to release or discard them.'],
    commits_unconfirmed: ["Commits that wait for the synchronous standby's confirmation."],
    commit_unconfirmed_oldest_age_seconds: [
      'How long the oldest commit has waited for the synchronous standby; 0 = none waits.',
    ],
    synchronous_standby: ['1 = commits are confirmed by a synchronous standby; 0 = the primary serves alone.'],
    reconciling_age_seconds: [
      'For how long the database has been reconciled after it went back in time; 0 = it is not.',
    ],
    backup_age_seconds: ['Age of the last backup that was verified; NaN = none was recorded (docs/backup.md).'],
    archive_age_seconds: [
      'How long ago the last segment of the log was archived while another one waits; 0 = none waits, NaN = no archive.',
    ],
    queue_depth: [
      'Deliveries that wait, by state: ready, later (not due yet), taken for an attempt.',
      { state: ['ready', 'later', 'taken'] },
    ],
  };
}

/**
 * Exports gauges of the work waiting in the database, read at each scrape. A silent database never fails a scrape: the
 * gauges keep their last values, and holdfast_backlog_read_failures_total counts.
 */
export function exportBacklog({ registry, database, processors, clock, log }: BacklogGauges): void {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let refreshing: Promise<void> | undefined;
  const options = { registers: [registry], collect: refresh };
  const failures = new Counter({
    name: 'holdfast_backlog_read_failures_total',
    help: 'Scrapes that got old values of what waits, because the database did not answer in time.',
    ...options,
  });
  const gauges = Object.entries(gaugesOf(processors.names)).map(([name, [help, labels = {}]]) => {
    const gauge = new Gauge({ name: `holdfast_${name}`, help, labelNames: Object.keys(labels), ...options });
    return { name, gauge, zeros: combined(labels) };
  });

  function show(samples: readonly Sample[]): void {
    for (const { name, gauge, zeros } of gauges) {
      gauge.reset();
      for (const labels of zeros) gauge.set(labels, 0);
      for (const sample of samples) if (sample.gauge === name) gauge.set(sample.labels, sample.value);
    }
  }

  async function read(): Promise<void> {
    try {
      show(await readBacklog(database.query, clock()));
      readAtMs = performance.now();
    } catch (error) {
      failures.inc();
      log.warn('backlog_not_read', { ...errorFields(error) });
    } finally {
      reading = undefined;
    }
  }

  async function patiently(): Promise<void> {
    reading ??= read();
    if (!(await settlesWithin(PATIENCE_MS, reading))) failures.inc();
  }

  /** A scrape collects all gauges at once, and each waits for the one reading. */
  async function refresh(): Promise<void> {
    if (performance.now() - readAtMs < CACHE_MS) return;
    refreshing ??= patiently().finally(() => {
      refreshing = undefined;
    });
    await refreshing;
  }
}

/** Every combination of the values of labels. */
function combined(labels: Readonly<Record<string, readonly string[]>>): Record<string, string>[] {
  let all: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    all = all.flatMap((each) => values.map((value) => ({ ...each, [label]: value })));
  }
  return all;
}
