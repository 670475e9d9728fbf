import type { Log } from '../log.ts';
import { type EventMessage, type EventReporter, REPORT_TIMEOUT_MS } from './event-reporter.ts';

/** An event that is due to be reported to core. */
interface DueEvent {
  readonly eventId: string;
  /** What it is about. */
  readonly requestId: string;
  /** The same at every report. */
  readonly message: EventMessage;
  /** Reports begun, this one included. */
  readonly attempts: number;
}

/** Where an adapter keeps the events that it must report to core. */
export interface Outbox {
  /**
   * Takes due events, oldest first. They are put off by `putOffMs(attempts)` in the same transaction, so that a crash
   * during a report reports them again, not never.
   */
  takeDue(limit: number): Promise<readonly DueEvent[]>;
  /** Stores how a report went. One that core did not take is due again after `backoffMs(attempts)`. */
  settle(event: DueEvent, isReported: boolean): Promise<void>;
}

/** What a report needs. */
interface Reporting {
  readonly core: EventReporter;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Ends reporting; an event under way is reported again later. */
  readonly signal?: AbortSignal;
}

const AT_ONCE = 32;

/** Reports to core what is due, at least once each. What core does not take comes again, ever later. */
export async function reportDue({ core, outbox, log, signal }: Reporting): Promise<void> {
  const report = async (event: DueEvent) => {
    const { eventId, requestId, message, attempts: attempt } = event;
    const outcome = await core.report(message, signal);
    log[outcome === 'OK' ? 'info' : 'warn']('report', { eventId, requestId, attempt, outcome });
    if (outcome === 'OK' || !signal?.aborted) await outbox.settle(event, outcome === 'OK');
  };
  while (!signal?.aborted) {
    const due = await outbox.takeDue(AT_ONCE);
    if (due.length === 0) return;
    await Promise.all(due.map(report));
  }
}

/** Waits after a failed report: about as long as core takes to restart, then ever longer. */
const BACKOFF_MS = [200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** How long after a failed report the next one is due. */
export function backoffMs(attempts: number): number {
  return BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1] as number;
}

/** How long an event is put off while it is reported. */
export function putOffMs(attempts: number): number {
  return REPORT_TIMEOUT_MS + backoffMs(attempts);
}
