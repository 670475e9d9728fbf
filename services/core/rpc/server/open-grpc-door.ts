import type { Interceptor } from '@connectrpc/connect';
import { Server } from '@grpc/grpc-js';
import { GRPC_DOOR_OPTIONS } from '../../../../platform/grpc-server-options.ts';
import { settlesWithin } from '../../../../platform/settles-within.ts';
import { type DoorTls, doorCredentials } from '../../../../platform/tls.ts';
import type { Health } from '../../health.ts';
import type { MountedService } from '../services.ts';
import { mountServices } from './grpc-door.ts';
import { reflectionOf } from './reflection.ts';

/** The listening door for gRPC. */
export interface GrpcDoor {
  readonly port: number;
  /** Sends GOAWAY, ends streams, waits for running calls, then closes. */
  close(): Promise<void>;
}

export interface GrpcDoorParts {
  readonly services: readonly MountedService[];
  readonly interceptors: Interceptor[];
  readonly health: Health;
  readonly host: string;
  readonly port: number;
  readonly tls: DoorTls | undefined;
}

/** Opens the door: core's services, health and reflection. Rejects when the port is taken. */
export async function openGrpcDoor(parts: GrpcDoorParts): Promise<GrpcDoor> {
  const stopping = new AbortController();
  const server = new Server({ ...GRPC_DOOR_OPTIONS, 'grpc.max_receive_message_length': 1024 * 1024 });
  const calls = mountServices(server, parts.services, parts.interceptors, stopping.signal);
  parts.health.implementation.addToServer(server);
  reflectionOf(parts.services.map(({ service }) => service)).addToServer(server);
  const port = await listen(server, parts);
  return {
    port,
    async close() {
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      stopping.abort();
      await settlesWithin(DRAIN_MS, Promise.race([closed, calls.idle()]));
      // Streams of health and reflection do not end by themselves.
      await settlesWithin(LAST_BYTES_MS, closed);
      server.forceShutdown();
      await closed;
    },
  };
}

/** How long running calls may take to end: longer than a call to the processor takes unless PROCESSOR_TIMEOUT_MS is set higher. */
const DRAIN_MS = 8_000;
const LAST_BYTES_MS = 250;

function listen(server: Server, { host, port, tls }: GrpcDoorParts): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, doorCredentials(tls), (error, bound) => {
      if (error) reject(new Error(`CORE_PORT ${port} cannot be used: ${error.message}`));
      else resolve(bound);
    });
  });
}
