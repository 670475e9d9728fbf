/** Typed grpc-js over the generated contract: clients of a service, and the definition that a server needs. */
import {
  create,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  connectivityState,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import {
  Health,
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus,
} from '../proto/gen/grpc/health/v1/health_pb.js';
import { gatherCalls, type OneCall } from './call-many.ts';
import { traced, traceParent } from './tracing.ts';

/**
 * Metadata with the deadline of a unary call, milliseconds since the epoch. gRPC's own timeout begins when the server
 * reads the call, which may be long after it was sent.
 */
export const DEADLINE_HEADER = 'holdfast-deadline-ms';

/** Options of one call. Every unary call has a deadline. */
export interface GrpcCall {
  /** Milliseconds. Absent: the channel's for a unary call, none for a stream. */
  readonly timeoutMs?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Aborting it ends the call with CANCELLED. */
  readonly signal?: AbortSignal;
}

/**
 * A client of one service: unary methods return promises that reject with grpc-js ServiceError, streams are async
 * iterables.
 */
export type GrpcClient<S extends DescService> = {
  [M in keyof S['method']]: S['method'][M] extends { methodKind: 'unary'; input: infer I; output: infer O }
    ? (
        request: MessageInitShape<I & S['method'][M]['input']>,
        call?: GrpcCall,
      ) => Promise<MessageShape<O & S['method'][M]['output']>>
    : S['method'][M] extends { methodKind: 'server_streaming'; input: infer I; output: infer O }
      ? (
          request: MessageInitShape<I & S['method'][M]['input']>,
          call?: GrpcCall,
        ) => AsyncIterable<MessageShape<O & S['method'][M]['output']>>
      : never;
};

/** Options of a channel. */
export interface GrpcChannel {
  /** grpc-js target: `host:port`, `dns:///name:port`, `ipv4:a:1,b:2`. */
  readonly address: string;
  readonly credentials: ChannelCredentials;
  /** Bearer token sent with every call. */
  readonly token: string;
  /** Default deadline of a unary call, milliseconds. */
  readonly timeoutMs: number;
  readonly options?: ChannelOptions;
}

/** Balances over all addresses and notices a dead peer within 15 s. The channel itself never repeats a call. */
const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  'grpc.enable_retries': 0,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // Channels do not share connections, so a broken one cannot fail the calls of another.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.max_receive_message_length': 4 * 1024 * 1024,
  // With HTTP/2's default of 64 KiB per connection, streams wait for each other.
  'grpc-node.flow_control_window': 1024 * 1024,
  // By default grpc-js counts every message for channelz, a debugging service that we do not offer.
  'grpc.enable_channelz': 0,
  // By default grpc-js sends calls, with their tokens, through the proxy that `http_proxy` names.
  'grpc.enable_http_proxy': 0,
};

/** One HTTP/2 channel that several service clients share. Close it when done. */
export function openChannel(channel: GrpcChannel) {
  const connection = new Client(channel.address, channel.credentials, { ...CHANNEL_OPTIONS, ...channel.options });
  const opened = { ...channel, connection };
  const together = gatherCalls(connection, channel.token);
  return {
    client: <S extends DescService>(service: S) => clientOf(service, opened),
    /** One that sends unary calls of the same moment as one, to a peer that serves CallService. */
    gathering: <S extends DescService>(service: S) => clientOf(service, opened, together),
    /**
     * Whether the peer, or one of the first two that balancing picks, reports SERVING (grpc.health.v1). Never rejects.
     */
    isServing: async (timeoutMs = 1_000) =>
      (await checkHealth(connection, timeoutMs)) || (await checkHealth(connection, timeoutMs)),
    /** Calls back whenever an established connection was lost: the next one may lead to another process. */
    onDisconnect: (lost: () => void) => watchConnection(connection, lost),
    close: () => connection.close(),
  };
}

type OpenChannel = GrpcChannel & { readonly connection: Client };
type Definition = MethodDefinition<object, object>;

function watchConnection(connection: Client, lost: () => void): void {
  const channel = connection.getChannel();
  const watch = (): void => {
    const state = channel.getConnectivityState(false);
    if (state === connectivityState.SHUTDOWN) return;
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, (error) => {
      if (error) return;
      if (state === connectivityState.READY) lost();
      watch();
    });
  };
  watch();
}

/** The grpc-js definition of a generated service, for a server. */
export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(service.methods.map((method) => [method.localName, methodDefinition(method)]));
}

function methodDefinition(method: DescMethod): Definition {
  const encode = (message: object) =>
    Buffer.from(toBinary(method.output, message as MessageShape<typeof method.output>));
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: (message) => Buffer.from(toBinary(method.input, message as MessageShape<typeof method.input>)),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: method.methodKind === 'server_streaming' ? encodedOnce(encode) : encode,
    responseDeserialize: (bytes) => fromBinary(method.output, bytes),
    originalName: method.localName,
  };
}

/** Encodes a message once that is written to many streams. */
function encodedOnce(encode: (message: object) => Buffer): (message: object) => Buffer {
  const encoded = new WeakMap<object, Buffer>();
  return (message) => {
    const bytes = encoded.get(message) ?? encode(message);
    encoded.set(message, bytes);
    return bytes;
  };
}

function clientOf<S extends DescService>(
  service: S,
  channel: OpenChannel,
  together?: (call: OneCall) => Promise<object>,
): GrpcClient<S> {
  const methods = service.methods.map((method) => {
    const definition = methodDefinition(method);
    const call = (init: MessageInitShape<typeof method.input>, options: GrpcCall = {}) => {
      const request = create(method.input, init);
      if (method.methodKind !== 'unary') return stream(channel, definition, request, options);
      return traced({ name: definition.path.slice(1), kind: 'CLIENT' }, () => {
        const deadline = Date.now() + (options.timeoutMs ?? channel.timeoutMs);
        const alone = () => unary(channel, definition, request, options, deadline);
        if (together === undefined || options.signal) return alone();
        return together({ definition, request, metadata: ownMetadata(options, deadline), deadline, alone });
      });
    };
    return [method.localName, call];
  });
  return Object.fromEntries(methods) as GrpcClient<S>;
}

function unary(channel: OpenChannel, definition: Definition, request: object, call: GrpcCall, deadline: number) {
  return new Promise<object>((resolve, reject) => {
    const pending = withoutStack(() =>
      channel.connection.makeUnaryRequest(
        ...partsOf(channel, definition, request, call, deadline),
        { deadline },
        (error: ServiceError | null, response?: object) => {
          call.signal?.removeEventListener('abort', cancel);
          if (error) reject(error);
          else resolve(response as object);
        },
      ),
    );
    const cancel = () => pending.cancel();
    call.signal?.addEventListener('abort', cancel);
    if (call.signal?.aborted) cancel();
  });
}

/** grpc-js captures a stack trace for each call, which costs more than encoding the request; this turns it off. */
function withoutStack<T>(make: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function* stream(channel: OpenChannel, definition: Definition, request: object, call: GrpcCall) {
  const options = call.timeoutMs === undefined ? {} : { deadline: Date.now() + call.timeoutMs };
  const parts = partsOf(channel, definition, request, call);
  const messages = channel.connection.makeServerStreamRequest(...parts, options);
  const cancel = () => messages.cancel();
  call.signal?.addEventListener('abort', cancel);
  if (call.signal?.aborted) cancel();
  try {
    yield* messages;
  } finally {
    call.signal?.removeEventListener('abort', cancel);
    messages.cancel();
  }
}

/** A peer without a health service counts as healthy, as the health checking protocol says. */
function checkHealth(connection: Client, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    connection.makeUnaryRequest(
      HEALTH_CHECK.path,
      HEALTH_CHECK.requestSerialize,
      HEALTH_CHECK.responseDeserialize,
      create(HealthCheckRequestSchema),
      new Metadata(),
      { deadline: Date.now() + timeoutMs },
      (error, response) =>
        resolve(error ? error.code === status.UNIMPLEMENTED : (response as HealthCheckResponse).status === SERVING),
    );
  });
}

const { SERVING } = HealthCheckResponse_ServingStatus;
const HEALTH_CHECK = methodDefinition(Health.method.check);

/** Options that grpc-js gets for every call. */
function partsOf({ token }: GrpcChannel, definition: Definition, request: object, call: GrpcCall, deadline?: number) {
  const { path, requestSerialize, responseDeserialize } = definition;
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  for (const [name, value] of Object.entries(ownMetadata(call, deadline))) metadata.set(name, value);
  return [path, requestSerialize, responseDeserialize, request, metadata] as const;
}

/** The metadata of one call, besides the credential. */
function ownMetadata({ metadata }: GrpcCall, deadline?: number): Record<string, string> {
  const own: Record<string, string> = {};
  if (deadline !== undefined) own[DEADLINE_HEADER] = String(deadline);
  const parent = traceParent();
  if (parent !== undefined) own.traceparent = parent;
  Object.assign(own, metadata);
  return own;
}
