import type { MessageInitShape } from '@bufbuild/protobuf';
import { type ServiceError, status } from '@grpc/grpc-js';
import { ProcessorEventService, type ReportEventRequestSchema } from '../proto/gen/holdfast/processor/v1/event_pb.js';
import { openChannel } from './grpc-client.ts';
import { type ChannelTls, channelSecurity } from './tls.ts';

/** How an adapter reaches core. */
export interface EventReporterOptions {
  /** `host:port` of core's gRPC door. */
  readonly coreUrl: string;
  /** Absent = in clear. */
  readonly coreTls?: ChannelTls | undefined;
  readonly token: string;
}

/** Reports events to core. */
export interface EventReporter {
  /** Reports one event once. Resolves with OK, or with the name of the gRPC status; never rejects. */
  report(event: MessageInitShape<typeof ReportEventRequestSchema>, signal?: AbortSignal): Promise<string>;
  close(): void;
}

/** After which a report counts as not answered. */
export const REPORT_TIMEOUT_MS = 5_000;

/** Opens an adapter's channel to core; it connects at the first report. When to report again is the adapter's to decide. */
export function openEventReporter({ coreUrl, coreTls, token }: EventReporterOptions): EventReporter {
  const channel = openChannel({ address: coreUrl, ...channelSecurity(coreTls), token, timeoutMs: REPORT_TIMEOUT_MS });
  const core = channel.client(ProcessorEventService);
  return {
    async report(event, signal) {
      try {
        await core.reportEvent(event, signal && { signal });
        return 'OK';
      } catch (error) {
        return status[(error as ServiceError).code] ?? 'FAILED';
      }
    },
    close: () => channel.close(),
  };
}
