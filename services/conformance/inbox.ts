import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { createValidator } from '@bufbuild/protovalidate';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { serviceDefinition } from '../../platform/grpc-client.ts';
import {
  ProcessorEventService,
  type ReportEventRequest,
  ReportEventRequestSchema,
  ReportEventResponseSchema,
} from '../../proto/gen/holdfast/processor/v1/event_pb.js';

/** What an event says, by its kind. */
export type Said = ReportEventRequest['event'];

/** One report of an event. */
export interface Report {
  readonly eventId: string;
  readonly said: Said;
  readonly occurredAt: Timestamp | undefined;
  /** False = the kit refused it, and expects it again. */
  readonly taken: boolean;
}

export type Inbox = Awaited<ReturnType<typeof openInbox>>;

const validator = createValidator();

/**
 * Serves ProcessorEventService in core's place, at `host:port` (port 0 = any): takes events, refuses some for now, and
 * remembers all of them. Throws an Error when it cannot listen there.
 */
export async function openInbox(address: string, token: string) {
  const server = new Server();
  /** Every report, oldest first. */
  const reports: Report[] = [];
  /** What the contract does not allow in an event, and what came without the token. */
  const faults: string[] = [];
  const startedMs = Date.now();
  const refusals = new Map<string, status[]>();

  function judge(request: ReportEventRequest, authorization: unknown): status | undefined {
    if (token !== '' && authorization !== `Bearer ${token}`) {
      faults.push(`event ${request.eventId} came without the token`);
      return status.UNAUTHENTICATED;
    }
    const { violations } = validator.validate(ReportEventRequestSchema, request);
    if (violations || request.event.case === undefined) {
      faults.push(`event ${request.eventId}: ${violations?.join('; ') ?? 'says nothing'}`);
      return status.INVALID_ARGUMENT;
    }
    try {
      demandDuringRun(startedMs, request.occurredAt, `event ${request.eventId}: occurred_at`);
    } catch (error) {
      faults.push((error as Error).message);
    }
    const about = `${request.event.case} ${subjectOf(request.event)}`;
    const refusal = refusals.get(about)?.shift();
    const { eventId, event: said, occurredAt } = request;
    reports.push({ eventId, said, occurredAt, taken: refusal === undefined });
    return refusal;
  }

  server.addService(serviceDefinition(ProcessorEventService), {
    reportEvent(call: ServerUnaryCall<ReportEventRequest, object>, callback: sendUnaryData<object>) {
      const code = judge(call.request, call.metadata.get('authorization')[0]);
      if (code !== undefined) return callback({ code, details: 'refused by the conformance kit' });
      callback(null, create(ReportEventResponseSchema));
    },
  });
  const port = await promisify(server.bindAsync.bind(server))(address, ServerCredentials.createInsecure()).catch(
    (cause) => {
      throw new Error(`--events: cannot listen on ${address}`, { cause });
    },
  );
  return {
    port,
    reports,
    faults,
    /** Refuses the next reports of a kind about an identifier, each with one of these statuses. */
    refuse: (kind: NonNullable<Said['case']>, about: string, codes: readonly status[]) =>
      void refusals.set(`${kind} ${about}`, [...codes]),
    /** The reports of a kind about an identifier, oldest first. */
    about: (kind: Said['case'], about: string) =>
      reports.filter(({ said }) => said.case === kind && subjectOf(said) === about),
    close: () => server.forceShutdown(),
  };
}

/** The identifier that an event is about. */
export function subjectOf(said: Said): string {
  switch (said.case) {
    case 'captureReversed':
    case 'captureReinstated':
      return said.value.captureRequestId || said.value.authorizationRequestId;
    case 'foreignCapture':
      return said.value.authorizationRequestId;
    case 'refundReturned':
      return said.value.refundRequestId;
    case 'creditReturned':
      return said.value.creditRequestId;
    case undefined:
      return '';
    default:
      return said.value.requestId;
  }
}

/** Clocks may differ by this much. */
export const SKEW_MS = 5 * 60_000;

/** Demands of a time that it lies within this run. */
export function demandDuringRun(startedMs: number, time: Timestamp | undefined, what: string): void {
  if (!time) return;
  const ms = timestampMs(time);
  assert(
    ms > startedMs - SKEW_MS && ms < Date.now() + SKEW_MS,
    `${what} is ${new Date(ms).toISOString()}, not a time of this run`,
  );
}
