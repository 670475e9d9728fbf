import { fromBinary } from '@bufbuild/protobuf';
import { type ServiceError, status } from '@grpc/grpc-js';
import { openChannel } from '../../platform/grpc-client.ts';
import type { Log } from '../../platform/log.ts';
import { type ChannelTls, channelSecurity } from '../../platform/tls.ts';
import { ProcessorEventService, ReportEventRequestSchema } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Database } from './ledger/database.ts';
import { type Event, settleEvent, takeDueEvents } from './ledger/event.ts';

const REPORT_TIMEOUT_MS = 5_000;
const AT_ONCE = 32;

/** What a reporter needs. */
export interface ReporterSetup {
  readonly database: Database;
  readonly log: Log;
  /** `host:port` of core's gRPC door. */
  readonly coreUrl: string;
  /** Absent = in clear. */
  readonly coreTls?: ChannelTls | undefined;
  readonly token: string;
}

/** Tells core what happened by itself, at least once each, until core answers. */
export function openReporter({ database, log, coreUrl, coreTls, token }: ReporterSetup) {
  const security = channelSecurity(coreTls);
  const channel = openChannel({ address: coreUrl, ...security, token, timeoutMs: REPORT_TIMEOUT_MS });
  const core = channel.client(ProcessorEventService);

  async function report({ eventId, requestId, message, attempts }: Event): Promise<void> {
    let outcome = 'OK';
    try {
      await core.reportEvent(fromBinary(ReportEventRequestSchema, message));
    } catch (error) {
      outcome = status[(error as ServiceError).code] ?? 'FAILED';
    }
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
    close: () => channel.close(),
  };
}
