import { fromBinary } from '@bufbuild/protobuf';
import { type EventReporterOptions, openEventReporter } from '../../platform/event-reporter.ts';
import type { Log } from '../../platform/log.ts';
import { ReportEventRequestSchema } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Database } from './ledger/database.ts';
import { type Event, settleEvent, takeDueEvents } from './ledger/event.ts';

const AT_ONCE = 32;

/** What a reporter needs. */
export interface ReporterSetup extends EventReporterOptions {
  readonly database: Database;
  readonly log: Log;
}

/** Tells core what happened by itself, at least once each, until core answers. */
export function openReporter({ database, log, ...options }: ReporterSetup) {
  const core = openEventReporter(options);

  async function report({ eventId, requestId, message, attempts }: Event): Promise<void> {
    const outcome = await core.report(fromBinary(ReportEventRequestSchema, message));
    log[outcome === 'OK' ? 'info' : 'warn']('report', { eventId, requestId, attempt: attempts, outcome });
    await settleEvent(database.query, eventId, outcome === 'OK');
  }

  return {
    /** Reports what is due now. What core does not take comes again, ever later. */
    async reportDue(): Promise<void> {
      for (;;) {
        const events = await takeDueEvents(database.query, AT_ONCE);
        if (events.length === 0) return;
        await Promise.all(events.map(report));
      }
    },
    close: core.close,
  };
}
