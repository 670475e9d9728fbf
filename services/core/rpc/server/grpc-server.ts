import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Server } from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { GRPC_SERVER_OPTIONS } from '../../../../platform/grpc-server-options.ts';
import { settlesWithin } from '../../../../platform/settles-within.ts';
import { serverCredentials } from '../../../../platform/tls.ts';
import { Health as HealthService } from '../../../../proto/gen/grpc/health/v1/health_pb.js';
import type { Health } from '../../health/watch-health.ts';
import type { ServerParts } from '../services.ts';
import { mountServices } from './mount-services.ts';

/** Opens the server: core's services, health and reflection. Rejects when the port is taken. */
export async function openGrpcServer(parts: ServerParts & { readonly health: Health }) {
  const stopping = new AbortController();
  const server = new Server({ ...GRPC_SERVER_OPTIONS, 'grpc.max_receive_message_length': 1024 * 1024 });
  const calls = mountServices(server, parts.services, parts.interceptors, stopping.signal);
  parts.health.implementation.addToServer(server);
  reflectionOf(parts.services.map(({ service }) => service)).addToServer(server);
  const port = await listen(server, parts);
  return {
    port,
    /** Sends GOAWAY, ends streams, waits for running calls, then closes. */
    async close(): Promise<void> {
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      stopping.abort();
      await settlesWithin(DRAIN_MS, Promise.race([closed, calls.idle()]));
      // Streams of health and reflection do not end by themselves.
      await settlesWithin(LAST_BYTES_MS, closed);
      server.forceShutdown();
      // grpc-js waits for ever for a session that was destroyed a moment before it shut down.
      await settlesWithin(LAST_BYTES_MS, closed);
    },
  };
}

/** For running calls to end: longer than a call to the processor takes, unless PROCESSOR_TIMEOUT_MS is set higher. */
const DRAIN_MS = 8_000;
const LAST_BYTES_MS = 250;

function listen(server: Server, { host, port, tls }: ServerParts): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, serverCredentials(tls), (error, bound) => {
      if (error) reject(new Error(`CORE_PORT ${port} cannot be used: ${error.message}`));
      else resolve(bound);
    });
  });
}

/**
 * Server reflection (grpc.reflection.v1 and v1alpha), made from the generated descriptors, so that it cannot lag behind
 * the contract. It needs no credential: it contains only the contract.
 */
function reflectionOf(services: readonly DescService[]): ReflectionService {
  const files = new Map<string, DescFile>();
  for (const service of [...services, HealthService]) collect(service.file, files);
  const mounted = new Set([...services, HealthService].map(({ typeName }) => typeName));
  const ours = [...files.values()].map(({ proto }) => {
    // A file may also describe a service that others offer, such as a processor's.
    const service = proto.service.filter(({ name }) => mounted.has(`${proto.package}.${name}`));
    return Buffer.from(toBinary(FileDescriptorProtoSchema, { ...proto, service }));
  });
  // Of a package definition only its files matter here. proto-loader itself would merge ours and lose their imports.
  const definition = { fileDescriptorProtos: ours } as MessageTypeDefinition<object, object>;
  return new ReflectionService({ holdfast: definition });
}

/** Adds a file after its imports, each once. */
function collect(file: DescFile, files: Map<string, DescFile>): void {
  if (files.has(file.proto.name)) return;
  for (const dependency of file.dependencies) collect(dependency, files);
  files.set(file.proto.name, file);
}
