/**
 * The server for gRPC at full speed: Connect handlers and interceptors mounted on a grpc-js server. (connect-node
 * serves gRPC too, at about half the rate; see docs/performance.md.) `transformInvokeImplementation` is not under
 * semantic versioning, which is why the connect packages are pinned.
 */

import { once } from 'node:events';
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import {
  Code,
  ConnectError,
  createContextValues,
  createHandlerContext,
  type HandlerContext,
  type Interceptor,
  type UnaryRequest,
} from '@connectrpc/connect';
import { createAsyncIterable, transformInvokeImplementation } from '@connectrpc/connect/protocol';
import {
  Metadata,
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { answerMany, type ManyCalls } from '../../../../platform/answer-many.ts';
import { serviceDefinition } from '../../../../platform/grpc-client.ts';
import { StatusSchema } from '../../../../proto/gen/google/rpc/status_pb.js';
import { type Call, type CallResult, CallService } from '../../../../proto/gen/holdfast/v1/call_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import type { MountedService } from '../services.ts';
import { goneKey, patienceKey } from './call-patience.ts';
import { peerKey } from './caller.ts';
import { translateError } from './translate-error.ts';

type MethodSpec = MountedService['methods'][string];

/** Mounts services on a grpc-js server. When `stopping` aborts, streams end with UNAVAILABLE; unary calls continue. */
export function mountServices(
  server: Server,
  services: readonly MountedService[],
  interceptors: Interceptor[],
  stopping: AbortSignal,
) {
  const running = new Set<Promise<void>>();
  const tracked = (call: Promise<void>) => {
    const ended = call.finally(() => running.delete(ended));
    running.add(ended);
  };
  const unary = new Map<string, OneMethod>();
  const handlerOf = (spec: MethodSpec) => {
    if (spec.kind !== 'unary')
      return (call: ServerWritableStream<object, object>) => tracked(serveStream(spec, call, interceptors, stopping));
    const invoke = intercepted(spec, interceptors);
    unary.set(`${spec.method.parent.typeName}/${spec.method.name}`, { spec, invoke });
    return (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) =>
      tracked(serveUnary(spec, call, callback, invoke));
  };
  for (const { service, methods } of services) {
    const handlers = Object.entries(methods).map(([name, spec]) => [name, handlerOf(spec)]);
    server.addService(tolerant(serviceDefinition(service)), Object.fromEntries(handlers));
  }
  server.addService(tolerant(serviceDefinition(CallService)), {
    callMany: (call: ManyCalls) => tracked(serveMany(call, unary)),
  });
  return {
    /** Resolves when no calls are in progress. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Stands for a message that cannot be decoded: grpc-js itself would answer INTERNAL. */
class Undecodable {}

/** The definition with requests that decode to Undecodable instead of throwing. */
function tolerant(definition: ServiceDefinition): ServiceDefinition<UntypedServiceImplementation> {
  const methods = Object.entries(definition).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer) => {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return new Undecodable();
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  return Object.fromEntries(methods);
}

function demandDecoded(request: object): void {
  if (request instanceof Undecodable) throw notDecoded();
}

function notDecoded(): ConnectError {
  return translateError(new HoldfastError('INVALID_REQUEST', 'the request is not a message of this method'));
}

type UnarySpec = MethodSpec & { kind: 'unary' };
type AnyFn = ReturnType<Interceptor>;

async function serveUnary(
  { method }: UnarySpec,
  call: ServerUnaryCall<object, object>,
  callback: sendUnaryData<object>,
  invoke: AnyFn,
): Promise<void> {
  try {
    demandDecoded(call.request);
    const request = requestOf(method, call.request, call, headersOf(call.metadata));
    callback(null, (await invoke(request)).message as object);
  } catch (error) {
    callback(statusOf(error));
  }
}

interface OneMethod {
  readonly spec: UnarySpec;
  readonly invoke: AnyFn;
}

/** Answers each of several calls as if it had come alone. */
async function serveMany(call: ManyCalls, methods: ReadonlyMap<string, OneMethod>): Promise<void> {
  try {
    demandDecoded(call.request);
    await answerMany(call, (one) => resultOf(one, call, methods.get(one.method)));
  } catch (error) {
    call.emit('error', statusOf(error));
  }
}

async function resultOf(
  { method: name, request, metadata }: Call,
  call: ManyCalls,
  known: OneMethod | undefined,
): Promise<CallResult['result']> {
  try {
    if (!known) throw new ConnectError(`there is no ${name}`, Code.Unimplemented);
    const { method } = known.spec;
    const header = new Headers({ authorization: String(call.metadata.get('authorization')[0] ?? ''), ...metadata });
    const message = decoded(method, request);
    const answer = await known.invoke(requestOf(method, message, call, header));
    return { case: 'response', value: toBinary(method.output, answer.message as MessageShape<typeof method.output>) };
  } catch (error) {
    const [value] = statusOf(error).metadata.get('grpc-status-details-bin');
    return { case: 'status', value: value as Buffer };
  }
}

function decoded(method: DescMethod, bytes: Uint8Array): object {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    throw notDecoded();
  }
}

function requestOf(
  method: UnarySpec['method'],
  message: object,
  call: ServerUnaryCall<object, object> | ManyCalls,
  header: Headers,
): UnaryRequest {
  const patience = { deadlineMs: Number(call.getDeadline()), isGone: () => call.cancelled };
  return {
    stream: false,
    service: method.parent,
    method,
    requestMethod: 'POST',
    url: urlOf(method, call),
    header,
    contextValues: createContextValues()
      .set(patienceKey, patience)
      .set(goneKey, () => goneSignalOf(call))
      .set(peerKey, hostOf(call.getPeer())),
    signal: UNDISTURBED,
    message: message as never,
  };
}

/** The signal that the caller has disconnected, one for all calls of a message. Few ask, so it is made when asked for. */
function goneSignalOf(call: ServerUnaryCall<object, object> | ManyCalls): AbortSignal {
  const known = goneSignals.get(call);
  if (known) return known;
  const gone = new AbortController();
  const abort = () => gone.abort(new ConnectError('the caller has disconnected', Code.Canceled));
  if (call.cancelled) abort();
  else call.once('cancelled', abort);
  goneSignals.set(call, gone.signal);
  return gone.signal;
}

const goneSignals = new WeakMap<object, AbortSignal>();

/**
 * A handler behind its interceptors, composed once: creating connect's own context costs as much as decoding a request.
 */
function intercepted({ method, impl }: UnarySpec, interceptors: Interceptor[]): AnyFn {
  const handle: AnyFn = async (request) => {
    const [header, trailer] = [new Headers(), new Headers()];
    const context: HandlerContext = {
      service: method.parent,
      method,
      protocolName: 'grpc',
      requestMethod: request.requestMethod,
      url: request.url,
      requestHeader: request.header,
      responseHeader: header,
      responseTrailer: trailer,
      values: request.contextValues,
      signal: request.signal,
      timeoutMs: () => undefined,
    };
    const message = create(method.output, await impl(request.message as never, context));
    return { stream: false, service: method.parent, method, header, trailer, message };
  };
  return interceptors.reduceRight((next, interceptor) => interceptor(next), handle);
}

/**
 * The signal of every unary call: it never aborts, because a call that writes continues when its caller disconnects.
 */
const UNDISTURBED = new AbortController().signal;

async function serveStream(
  spec: MethodSpec,
  call: ServerWritableStream<object, object>,
  interceptors: Interceptor[],
  stopping: AbortSignal,
): Promise<void> {
  try {
    demandDecoded(call.request);
    const context = streamContextOf(spec, call, stopping);
    const invoke = transformInvokeImplementation(spec as never, context, interceptors);
    for await (const message of invoke(createAsyncIterable([call.request as never]))) {
      if (call.write(message)) continue;
      // Waits until the peer has read the output, or has disconnected, which bounds the buffer.
      await once(call, 'drain', { signal: context.signal }).catch(() => undefined);
    }
    if (stopping.aborted) throw new ConnectError('this core is stopping; call again', Code.Unavailable);
    call.end();
  } catch (error) {
    if (!call.cancelled) call.emit('error', statusOf(error));
  }
}

function streamContextOf(spec: MethodSpec, call: ServerWritableStream<object, object>, stopping: AbortSignal) {
  const cancelled = new AbortController();
  call.once('cancelled', () => cancelled.abort());
  const deadline = call.getDeadline();
  const timeoutMs = Number(deadline) - Date.now();
  return createHandlerContext({
    service: spec.method.parent,
    method: spec.method,
    protocolName: 'grpc',
    requestMethod: 'POST',
    url: urlOf(spec.method, call),
    requestHeader: headersOf(call.metadata),
    requestSignal: cancelled.signal,
    contextValues: createContextValues(),
    shutdownSignal: stopping,
    ...(Number.isFinite(timeoutMs) && { timeoutMs: Math.max(timeoutMs, 0) }),
  });
}

/** The host in a peer's `host:port`. */
function hostOf(peer: string): string {
  return peer.slice(0, peer.lastIndexOf(':'));
}

function urlOf(method: DescMethod, call: { getHost(): string }): string {
  return `http://${call.getHost()}/${method.parent.typeName}/${method.name}`;
}

function headersOf(metadata: Metadata): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(metadata.getMap()))
    if (typeof value === 'string') headers.set(name, value);
  return headers;
}

/** A status of grpc-js, its details packed as google.rpc.Status. */
function statusOf(reason: unknown) {
  const error = ConnectError.from(reason);
  const metadata = new Metadata();
  const details = error.details.flatMap((detail) => ('desc' in detail ? [packed(detail.desc, detail.value)] : []));
  const status = create(StatusSchema, { code: error.code, message: error.rawMessage, details });
  metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, status)));
  return { code: error.code as number, details: error.rawMessage, metadata };
}

function packed(schema: DescMessage, value: MessageInitShape<DescMessage>) {
  return anyPack(schema, create(schema, value) as MessageShape<DescMessage>);
}
