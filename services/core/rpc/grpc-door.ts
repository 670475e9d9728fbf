/**
 * The door for gRPC at full speed: Connect handlers and interceptors mounted on a grpc-js server. (connect-node serves gRPC too,
 * at about half the rate; see docs/performance.md.) `invokeUnaryImplementation` and `transformInvokeImplementation` are not under
 * semantic versioning, which is why the connect packages are pinned.
 */

import { create, type DescMessage, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createContextValues, createHandlerContext, type Interceptor } from '@connectrpc/connect';
import { invokeUnaryImplementation, transformInvokeImplementation } from '@connectrpc/connect/protocol';
import {
  Metadata,
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { StatusSchema } from '../../../proto/gen/google/rpc/status_pb.js';
import { serviceDefinition } from '../../../proto/grpc.ts';
import type { MountedService } from './services.ts';

type MethodSpec = MountedService['methods'][string];

/** Calls under way. */
export interface Calls {
  /** Settles when there is none. */
  idle(): Promise<void>;
}

/** Mounts services on a grpc-js server. When `stopping` aborts, streams end with UNAVAILABLE; what writes is never disturbed. */
export function mountServices(
  server: Server,
  services: readonly MountedService[],
  interceptors: Interceptor[],
  stopping: AbortSignal,
): Calls {
  const running = new Set<Promise<void>>();
  const tracked = (call: Promise<void>) => {
    const ended = call.finally(() => running.delete(ended));
    running.add(ended);
  };
  const handlerOf = (spec: MethodSpec) =>
    spec.kind === 'unary'
      ? (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) =>
          tracked(serveUnary(spec, call, callback, interceptors))
      : (call: ServerWritableStream<object, object>) => tracked(serveStream(spec, call, interceptors, stopping));
  for (const { service, methods } of services) {
    const handlers = Object.entries(methods).map(([name, spec]) => [name, handlerOf(spec)]);
    const definition = serviceDefinition(service) as ServiceDefinition<UntypedServiceImplementation>;
    server.addService(definition, Object.fromEntries(handlers));
  }
  return {
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function serveUnary(
  spec: MethodSpec & { kind: 'unary' },
  call: ServerUnaryCall<object, object>,
  callback: sendUnaryData<object>,
  interceptors: Interceptor[],
): Promise<void> {
  const context = contextOf(spec, call);
  try {
    callback(null, await invokeUnaryImplementation(spec, context, call.request as never, interceptors));
  } catch (error) {
    callback(statusOf(error));
  }
}

async function serveStream(
  spec: MethodSpec,
  call: ServerWritableStream<object, object>,
  interceptors: Interceptor[],
  stopping: AbortSignal,
): Promise<void> {
  const context = contextOf(spec, call, stopping);
  const invoke = transformInvokeImplementation(spec as never, context, interceptors);
  try {
    for await (const message of invoke(single(call.request as never))) {
      if (!call.write(message)) await drained(call, context.signal);
    }
    if (stopping.aborted) throw new ConnectError('this core is stopping; call again', Code.Unavailable);
    call.end();
  } catch (error) {
    if (!call.cancelled) call.emit('error', statusOf(error));
  }
}

async function* single<T>(message: T): AsyncIterable<T> {
  yield message;
}

/** Waits until the peer has taken what was written, or is gone: buffers stay bounded. */
function drained(call: ServerWritableStream<object, object>, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) return resolve();
    const done = () => {
      call.off('drain', done);
      gone.removeEventListener('abort', done);
      resolve();
    };
    call.once('drain', done);
    gone.addEventListener('abort', done, { once: true });
  });
}

function contextOf(
  spec: MethodSpec,
  call: ServerUnaryCall<object, object> | ServerWritableStream<object, object>,
  stopping?: AbortSignal,
) {
  const cancelled = new AbortController();
  call.once('cancelled', () => cancelled.abort());
  const deadline = call.getDeadline();
  const timeoutMs = Number(deadline) - Date.now();
  return createHandlerContext({
    service: spec.method.parent,
    method: spec.method,
    protocolName: 'grpc',
    requestMethod: 'POST',
    url: `http://${call.getHost()}/${spec.method.parent.typeName}/${spec.method.name}`,
    requestHeader: headersOf(call.metadata),
    requestSignal: cancelled.signal,
    contextValues: createContextValues(),
    ...(stopping && { shutdownSignal: stopping }),
    ...(Number.isFinite(timeoutMs) && { timeoutMs: Math.max(timeoutMs, 0) }),
  });
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
