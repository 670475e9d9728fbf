import { setMaxListeners } from 'node:events';
import { type EventReporter, REPORT_TIMEOUT_MS } from '../../platform/adapter/event-reporter.ts';
import { errorFields, type Log } from '../../platform/log.ts';
import type { Clock } from './clock.ts';
import { happen, messageOf } from './happen.ts';
import type { Event } from './ledger/event.ts';
import type { Books, Ledger } from './ledger/ledger.ts';

/** Waits before the next report: about as long as core takes to restart, then ever longer. */
const BACKOFF_MS = [200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
const EVENTS_OF_A_RUN = 32;
/** A core that hangs holds up a run for seconds; events that come meanwhile get another one. */
const RUNS_AT_ONCE = 8;

/** Reports events to core, each at least once and until core has it; survives a restart. */
export interface Reporter {
  /** There may be a new event, or one due: looks and sets its alarm. */
  wake(): void;
  /** Reports what is due now; ends when nothing is under way any more: answered, or put off. */
  runOnce(): Promise<void>;
  /** Resolves when core has the event. Never rejects. */
  reported(eventId: string): Promise<void>;
  close(): Promise<void>;
}

/** What a reporter needs. */
export interface ReporterSetup {
  readonly core: EventReporter;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reports to core; nothing is sent before the first `wake()` or `runOnce()`. */
export function openReporter({ core, ledger, clock, log }: ReporterSetup): Reporter {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const running = new Set<Promise<void>>();
  const waiting = new Map<string, Array<() => void>>();
  let callOff = () => {};

  function wake(): void {
    callOff();
    if (stop.signal.aborted || running.size >= RUNS_AT_ONCE) return;
    const dueAtMs = ledger.books.events.nextDueAtMs();
    if (dueAtMs !== undefined) callOff = clock.after(Math.max(0, dueAtMs - clock.now()), run);
  }

  function run(): void {
    callOff();
    const reports = reportDue().catch((error) => log.error('reporting failed', errorFields(error)));
    running.add(reports);
    reports.then(() => {
      running.delete(reports);
      wake();
    });
  }

  async function reportDue(): Promise<void> {
    while (!stop.signal.aborted) {
      const due = await ledger.commit((books) => takeDue(books, clock.now()));
      if (due.length === 0) return;
      await Promise.all(due.map(report));
    }
  }

  async function report(event: Event): Promise<void> {
    const attempt = event.attempts + 1;
    const outcome = await core.report(messageOf(ledger.books, event), stop.signal);
    const line = { eventId: event.eventId, requestId: event.requestId, attempt, outcome };
    log[outcome === 'OK' ? 'info' : 'warn']('report', line);
    if (outcome !== 'OK') {
      if (stop.signal.aborted) return;
      await ledger.commit((books) => books.events.postpone(event.eventId, clock.now() + backoffMs(attempt), attempt));
      return;
    }
    await ledger.commit((books) => books.events.reported(event.eventId, clock.now()));
    for (const tell of waiting.get(event.eventId) ?? []) tell();
    waiting.delete(event.eventId);
  }

  return {
    wake,
    async runOnce() {
      run();
      await Promise.all(running);
    },
    reported: (eventId) => new Promise((resolve) => waiting.set(eventId, [...(waiting.get(eventId) ?? []), resolve])),
    async close() {
      stop.abort();
      callOff();
      await Promise.all(running);
    },
  };
}

/**
 * Takes due events for reporting; what has not happened yet happens now. They are put off first: a crash in between
 * reports them again, not never.
 */
function takeDue(books: Books, nowMs: number): Event[] {
  const due: Event[] = [];
  for (const { eventId, attempts } of books.events.due(nowMs, EVENTS_OF_A_RUN)) {
    const event = attempts === 0 ? happen(books, eventId) : books.events.find(eventId);
    if (!event) continue;
    const attempt = attempts + 1;
    books.events.postpone(eventId, nowMs + REPORT_TIMEOUT_MS + backoffMs(attempt), attempt);
    due.push(event);
  }
  return due;
}

function backoffMs(attempt: number): number {
  return BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length) - 1] as number;
}
