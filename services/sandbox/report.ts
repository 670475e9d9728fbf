import { setMaxListeners } from 'node:events';
import type { EventReporter } from '../../platform/adapter/event-reporter.ts';
import { backoffMs, type Outbox, putOffMs, reportDue } from '../../platform/adapter/report.ts';
import { errorFields, type Log } from '../../platform/log.ts';
import type { Clock } from './clock.ts';
import { happen, messageOf, scheduleNext } from './happen.ts';
import type { Event } from './ledger/event.ts';
import type { Books, Ledger } from './ledger/ledger.ts';

/** A core that hangs holds up a run for seconds; events that come meanwhile get another one. */
const RUNS_AT_ONCE = 8;

/**
 * Reports events to core, each at least once and until core has it; survives a restart. Nothing is sent before the
 * first `wake()` or `runOnce()`.
 */
export function openReporter(core: EventReporter, ledger: Ledger, clock: Clock, log: Log) {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const running = new Set<Promise<void>>();
  let callOff = () => {};

  const outbox: Outbox = {
    async takeDue(limit) {
      const due = await ledger.commit((books) => takeDue(books, limit, clock.now()));
      return due.map((event) => ({ ...event, message: messageOf(ledger.books, event) }));
    },
    settle({ eventId, attempts }, isReported) {
      const nowMs = clock.now();
      return ledger.commit((books) => {
        if (!isReported) return books.events.postpone(eventId, nowMs + backoffMs(attempts), attempts);
        const event = books.events.reported(eventId, nowMs);
        if (event) scheduleNext(books, event, nowMs);
      });
    },
  };

  /** There may be a new event, or one due: looks and sets its alarm. */
  function wake(): void {
    callOff();
    if (stop.signal.aborted || running.size >= RUNS_AT_ONCE) return;
    const dueAtMs = ledger.books.events.nextDueAtMs();
    if (dueAtMs !== undefined) callOff = clock.after(Math.max(0, dueAtMs - clock.now()), run);
  }

  function run(): void {
    callOff();
    const reports = reportDue({ core, outbox, log, signal: stop.signal }).catch((error) =>
      log.error('reporting failed', errorFields(error)),
    );
    running.add(reports);
    reports.then(() => {
      running.delete(reports);
      wake();
    });
  }

  return {
    wake,
    /** Reports what is due now; ends when nothing is under way any more: answered, or put off. */
    async runOnce(): Promise<void> {
      run();
      await Promise.all(running);
    },
    async close(): Promise<void> {
      stop.abort();
      callOff();
      await Promise.all(running);
    },
  };
}

/** Takes due events for reporting; what has not happened yet happens now. */
function takeDue(books: Books, limit: number, nowMs: number): Event[] {
  return books.events.due(nowMs, limit).flatMap((due) => {
    const event = due.attempts === 0 ? happen(books, due) : due;
    if (!event) return [];
    const attempts = due.attempts + 1;
    books.events.postpone(event.eventId, nowMs + putOffMs(attempts), attempts);
    return [{ ...event, attempts }];
  });
}
