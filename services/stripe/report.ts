import { fromBinary } from '@bufbuild/protobuf';
import type { EventReporter } from '../../platform/adapter/event-reporter.ts';
import type { Log } from '../../platform/log.ts';
import { ReportEventRequestSchema } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Database } from './ledger/database.ts';
import { type Event, settleEvent, takeDueEvents } from './ledger/event.ts';

const AT_ONCE = 32;

/** What a report needs. */
export interface Reporting {
  readonly core: EventReporter;
  readonly database: Database;
  readonly log: Log;
}

/** Reports to core what happened by itself and is due now, at least once each. What core does not take comes again, ever later. */
export async function reportDue(reporting: Reporting): Promise<void> {
  for (;;) {
    const events = await takeDueEvents(reporting.database.query, AT_ONCE);
    if (events.length === 0) return;
    await Promise.all(events.map((event) => report(reporting, event)));
  }
}

async function report({ core, database, log }: Reporting, event: Event): Promise<void> {
  const { eventId, requestId, message, attempts } = event;
  const outcome = await core.report(fromBinary(ReportEventRequestSchema, message));
  log[outcome === 'OK' ? 'info' : 'warn']('report', { eventId, requestId, attempt: attempts, outcome });
  await settleEvent(database.query, eventId, outcome === 'OK');
}
