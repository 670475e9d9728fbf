import { create } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { serviceDefinition } from '../../../platform/grpc-client.ts';
import {
  ProcessorEventService,
  type ReportEventRequest,
  type ReportEventResponse,
  ReportEventResponseSchema,
} from '../../../proto/gen/holdfast/processor/v1/event_pb.js';

type Answer = 'accept' | 'refuse' | 'hang';

/** Core as a processor sees it: accepts events, or fails as configured. */
export interface FakeCore {
  readonly url: string;
  readonly received: ReportEventRequest[];
  readonly tokens: Set<string>;
  /** Sets how it answers from now on. */
  answer: Answer;
  /** Resolves with the next event that arrives, whatever the answer. */
  next(): Promise<ReportEventRequest>;
  /** Fails the calls that hang. */
  letGo(): void;
  close(): void;
}

/** Starts a fake core on a free port, or on the given one. */
export async function startFakeCore(port = 0): Promise<FakeCore> {
  const server = new Server();
  const waiting: Array<(event: ReportEventRequest) => void> = [];
  const hanging: Array<() => void> = [];
  const core: FakeCore = {
    url: '',
    received: [],
    tokens: new Set(),
    answer: 'accept',
    next: () => new Promise((resolve) => waiting.push(resolve)),
    letGo: () => hanging.splice(0).forEach((refuse) => void refuse()),
    close: () => server.forceShutdown(),
  };
  server.addService(serviceDefinition(ProcessorEventService), {
    reportEvent(
      call: ServerUnaryCall<ReportEventRequest, ReportEventResponse>,
      callback: sendUnaryData<ReportEventResponse>,
    ) {
      core.received.push(call.request);
      core.tokens.add(String(call.metadata.get('authorization')[0]));
      for (const tell of waiting.splice(0)) tell(call.request);
      if (core.answer === 'accept') callback(null, create(ReportEventResponseSchema));
      const refuse = () => callback({ code: status.UNAVAILABLE, details: 'not now' });
      if (core.answer === 'refuse') refuse();
      if (core.answer === 'hang') hanging.push(refuse);
    },
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, free) =>
      error ? reject(error) : resolve(free),
    );
  });
  return Object.assign(core, { url: `127.0.0.1:${bound}` });
}
