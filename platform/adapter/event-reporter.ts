import type { MessageInitShape } from '@bufbuild/protobuf';
import { type ServiceError, status } from '@grpc/grpc-js';
import type { z } from 'zod';
import {
  ProcessorEventService,
  type ReportEventRequestSchema,
} from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { openChannel } from '../grpc-client.ts';
import { channelSecurity, readChannelTls, tlsFiles } from '../tls.ts';
import type { ADAPTER_SETTINGS } from './settings.ts';

/** An event of the contract. */
export type EventMessage = MessageInitShape<typeof ReportEventRequestSchema>;

/** Reports events to core. */
export interface EventReporter {
  /** Reports one event once. Resolves with OK, or with the name of the gRPC status; never rejects. */
  report(event: EventMessage, signal?: AbortSignal): Promise<string>;
  close(): void;
}

/** After which a report counts as not answered. */
export const REPORT_TIMEOUT_MS = 5_000;

/**
 * Opens an adapter's channel to core; it connects at the first report. When to report again is the adapter's to decide.
 * Throws an Error of one line that names the setting that is wrong.
 */
export function openEventReporter(settings: z.output<z.ZodObject<typeof ADAPTER_SETTINGS>>): EventReporter {
  const security = channelSecurity(readChannelTls('CORE_TLS', tlsFiles('CORE_TLS', settings)));
  const { CORE_URL: address, PROCESSOR_TOKEN: token } = settings;
  const channel = openChannel({ address, ...security, token, timeoutMs: REPORT_TIMEOUT_MS });
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
