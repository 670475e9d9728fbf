/**
 * A proxy between the kit, or core, and a sandbox, in both directions, that falsifies answers and events. Unconfigured,
 * it passes everything on.
 */
import { promisify } from 'node:util';
import { create, type DescMethod, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  credentials,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { answerMany, type ManyCalls } from '../../../platform/answer-many.ts';
import { type GrpcClient, openChannel, serviceDefinition } from '../../../platform/grpc-client.ts';
import { StatusSchema } from '../../../proto/gen/google/rpc/status_pb.js';
import { ProcessorEventService, type ReportEventRequest } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { ProcessorService } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

import { CallService } from '../../../proto/gen/holdfast/v1/call_pb.js';

type Methods = (typeof ProcessorService)['method'];
type Input<M extends keyof Methods> = Parameters<GrpcClient<typeof ProcessorService>[M]>[0];
type Output<M extends keyof Methods> = Awaited<ReturnType<GrpcClient<typeof ProcessorService>[M]>>;

/** Replaces an answer. `forward` calls the sandbox. */
export type Lie = {
  readonly [M in keyof Methods]?: (
    request: Input<M>,
    forward: (request: Input<M>) => Promise<Output<M>>,
  ) => Promise<Output<M>>;
} & {
  readonly reportEvent?: (
    request: ReportEventRequest,
    forward: (request: ReportEventRequest) => Promise<object>,
  ) => Promise<object>;
  /**
   * Answers calls that come together with each other's answers: in reverse order, or each with that of the call that is
   * returned in its place.
   */
  readonly mixesCalls?: true | (<C extends TogetherCall>(calls: readonly C[]) => readonly C[]);
  /** Accepts any credential, of all methods or of one, and uses the right one. */
  readonly letsAnybodyIn?: true | keyof Methods;
};

/** One of the calls that came together. */
export interface TogetherCall {
  /** `capture`, for example. */
  readonly method: string;
  readonly request: object;
}

export interface Liar {
  /** The processor's address for the kit. */
  readonly processor: string;
  /** Core's address for the sandbox. */
  readonly core: string;
  lie: Lie;
  close(): void;
}

/** What stands on both sides of one. Addresses and tokens are read when they are first needed. */
export interface Sides {
  /** The sandbox's address, and the credential that it takes. */
  readonly sandbox: () => string;
  readonly credential: () => string;
  /** Where events are received, and the token to show there. */
  readonly events: () => string;
  readonly token: () => string;
}

/** Starts one. */
export async function startLiar({ sandbox, credential, events, token }: Sides): Promise<Liar> {
  const clients = new Map<string, GrpcClient<typeof ProcessorService>>();
  const closers: (() => void)[] = [];
  const opened = (address: string, shown: string) => {
    const channel = openChannel({
      address,
      credentials: credentials.createInsecure(),
      token: shown,
      timeoutMs: 20_000,
    });
    closers.push(channel.close);
    return channel;
  };
  const clientOf = (shown: string) => {
    const known = clients.get(shown) ?? opened(sandbox(), shown).client(ProcessorService);
    clients.set(shown, known);
    return known;
  };
  let inbox: GrpcClient<typeof ProcessorEventService> | undefined;
  const inboxOf = () => (inbox ??= opened(events(), token()).client(ProcessorEventService));
  const liar = { lie: {} as Lie };

  const answer = (method: DescMethod, request: object, metadata: Metadata): Promise<object> => {
    const name = method.localName as 'capture';
    const shown = String(metadata.get('authorization')[0] ?? '').replace(/^Bearer /, '');
    const { letsAnybodyIn } = liar.lie;
    const client = clientOf(letsAnybodyIn === true || letsAnybodyIn === name ? credential() : shown);
    const forward = client[name] as unknown as (request: object) => Promise<Output<'capture'>>;
    const told = liar.lie[name] as ((request: object, forward: object) => Promise<object>) | undefined;
    return told ? told(request, forward) : forward(request);
  };
  const handler = (method: DescMethod) => (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) =>
    reply(answer(method, call.request, call.metadata), method, callback);
  const together = (many: ManyCalls) => {
    const { calls } = many.request;
    const { mixesCalls } = liar.lie;
    if (mixesCalls === true) calls.reverse();
    else if (mixesCalls) calls.splice(0, calls.length, ...mixesCalls(calls.map(decoded)).map(({ call }) => call));
    return answerMany(many, async ({ method: name, request }) => {
      const method = methodOf(name);
      try {
        const response = await answer(method, fromBinary(method.input, request), many.metadata);
        return { case: 'response', value: toBinary(method.output, create(method.output, response as never)) };
      } catch (error) {
        const { code = status.UNKNOWN } = error as ServiceError;
        return { case: 'status', value: toBinary(StatusSchema, create(StatusSchema, { code })) };
      }
    });
  };
  const processor = new Server();
  const methods = ProcessorService.methods.map((method) => [method.localName, handler(method)]);
  processor.addService(serviceDefinition(ProcessorService), Object.fromEntries(methods));
  processor.addService(serviceDefinition(CallService), { callMany: together });
  const core = new Server();
  core.addService(serviceDefinition(ProcessorEventService), {
    reportEvent(call: ServerUnaryCall<ReportEventRequest, object>, callback: sendUnaryData<object>) {
      const forward = (request: ReportEventRequest) => inboxOf().reportEvent(request) as Promise<object>;
      const told = liar.lie.reportEvent ?? ((request) => forward(request));
      reply(told(call.request, forward), ProcessorEventService.method.reportEvent, callback);
    },
  });
  return Object.assign(liar, {
    processor: await listen(processor),
    core: await listen(core),
    close() {
      for (const close of closers) close();
      processor.forceShutdown();
      core.forceShutdown();
    },
  });
}

function methodOf(name: string): DescMethod {
  return ProcessorService.methods.find((each) => name.endsWith(`/${each.name}`)) as DescMethod;
}

function decoded(call: ManyCalls['request']['calls'][number]) {
  const { localName, input } = methodOf(call.method);
  return { method: localName as string, request: fromBinary(input, call.request) as object, call };
}

function reply(answer: Promise<object>, method: DescMethod, callback: sendUnaryData<object>): void {
  answer.then(
    (response) => callback(null, create(method.output, response as never)),
    (error: ServiceError) => callback({ code: error.code ?? status.UNKNOWN, details: error.details ?? error.message }),
  );
}

async function listen(server: Server): Promise<string> {
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  return `127.0.0.1:${port}`;
}
