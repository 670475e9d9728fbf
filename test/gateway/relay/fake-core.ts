/** Core as the relay uses it, written from the contract alone; it remembers pairs in memory. */
import { create, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { serviceDefinition } from '../../../platform/grpc-client.ts';
import {
  type AcceptNotificationRequest,
  AcceptNotificationRequestSchema,
  AcceptNotificationResponseSchema,
  AcceptOutcome,
  type BatchAcceptNotificationsRequest,
  BatchAcceptNotificationsRequestSchema,
  BatchAcceptNotificationsResponseSchema,
  NotificationService,
  type QuarantineNotificationRequest,
  QuarantineNotificationRequestSchema,
  QuarantineNotificationResponseSchema,
  type ReportVerificationFailuresRequest,
  ReportVerificationFailuresRequestSchema,
  ReportVerificationFailuresResponseSchema,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import {
  type AcceptRelayedNotificationRequest,
  AcceptRelayedNotificationRequestSchema,
  AcceptRelayedNotificationResponseSchema,
  RelayService,
} from '../../../proto/gen/holdfast/v1/relay_pb.js';

/** The relay's part of the contract, and what a test can inspect. */
export interface FakeCore {
  readonly port: number;
  readonly accepted: AcceptNotificationRequest[];
  readonly conflicts: AcceptNotificationRequest[];
  /** The number of notifications in each batch call. */
  readonly batches: number[];
  /** A requestId that cannot be stored. */
  unstorable: string | undefined;
  readonly quarantined: QuarantineNotificationRequest[];
  /** Of other senders. */
  readonly relayed: AcceptRelayedNotificationRequest[];
  readonly reports: ReportVerificationFailuresRequest[];
  /** While set, every call fails with this code. */
  failing: status | undefined;
  /** Resolves with the next report. */
  nextReport(): Promise<ReportVerificationFailuresRequest>;
  close(): Promise<void>;
}

/** Starts it on a free port. Requests that violate the contract are refused as core refuses them. */
export async function startFakeCore(): Promise<FakeCore> {
  const server = new Server();
  const first = new Map<string, string>();
  let reported = Promise.withResolvers<ReportVerificationFailuresRequest>();
  const core: Omit<FakeCore, 'port'> = {
    accepted: [],
    conflicts: [],
    batches: [],
    unstorable: undefined,
    quarantined: [],
    relayed: [],
    reports: [],
    failing: undefined,
    nextReport: () => reported.promise,
    close: async () => server.forceShutdown(),
  };
  const accept = (request: AcceptNotificationRequest) => {
    if (request.requestId === core.unstorable) return create(AcceptNotificationResponseSchema);
    const pair = `${request.merchantId} ${request.requestId}`;
    const text = [request.kind, request.status, request.amount, request.currency].join(' ');
    const known = first.get(pair);
    if (known === undefined) {
      first.set(pair, text);
      core.accepted.push(request);
    } else if (known !== text) {
      core.conflicts.push(request);
    }
    const repeated = known === text ? AcceptOutcome.DUPLICATE : AcceptOutcome.CONFLICT;
    const outcome = known === undefined ? AcceptOutcome.STORED : repeated;
    return create(AcceptNotificationResponseSchema, { outcome });
  };
  const acceptAll = ({ requests }: BatchAcceptNotificationsRequest) => {
    core.batches.push(requests.length);
    const responses = requests.map(accept);
    return create(BatchAcceptNotificationsResponseSchema, { responses });
  };
  const quarantine = (request: QuarantineNotificationRequest) => {
    core.quarantined.push(request);
    return create(QuarantineNotificationResponseSchema);
  };
  const acceptRelayed = (request: AcceptRelayedNotificationRequest) => {
    const name = `${request.senderId} ${request.identifier}`;
    const content = Buffer.from(request.body).toString('base64');
    const known = first.get(name);
    if (known === undefined) {
      first.set(name, content);
      core.relayed.push(request);
    }
    const repeated = known === content ? AcceptOutcome.DUPLICATE : AcceptOutcome.CONFLICT;
    const outcome = known === undefined ? AcceptOutcome.STORED : repeated;
    return create(AcceptRelayedNotificationResponseSchema, { outcome, requestId: request.senderId });
  };
  const report = (request: ReportVerificationFailuresRequest) => {
    core.reports.push(request);
    reported.resolve(request);
    reported = Promise.withResolvers();
    return create(ReportVerificationFailuresResponseSchema);
  };
  server.addService(serviceDefinition(NotificationService), {
    acceptNotification: handler(core, AcceptNotificationRequestSchema, accept),
    batchAcceptNotifications: handler(core, BatchAcceptNotificationsRequestSchema, acceptAll),
    quarantineNotification: handler(core, QuarantineNotificationRequestSchema, quarantine),
    reportVerificationFailures: handler(core, ReportVerificationFailuresRequestSchema, report),
  });
  server.addService(serviceDefinition(RelayService), {
    acceptRelayedNotification: handler(core, AcceptRelayedNotificationRequestSchema, acceptRelayed),
  });
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return Object.assign(core, { port });
}

const validator = createValidator();

function handler<S extends DescMessage>(
  core: Pick<FakeCore, 'failing'>,
  schema: S,
  answer: (request: MessageShape<S>) => object,
): handleUnaryCall<MessageShape<S>, object> {
  return ({ request }, callback) => {
    const result = validator.validate(schema, request);
    if (core.failing !== undefined) callback({ code: core.failing, details: 'told to fail' });
    else if (result.kind !== 'valid') callback({ code: status.INVALID_ARGUMENT, details: String(result.error) });
    else callback(null, answer(request));
  };
}
