import { create } from '@bufbuild/protobuf';
import { credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import { openChannel, serviceDefinition } from '../../platform/grpc-client.ts';
import { GetOctResponseSchema, OctService } from '../../proto/gen/holdfast/v1/oct_pb.js';
import type { Load } from '../load.ts';

function echo(_: unknown, callback: (error: null, answer: object) => void): void {
  callback(null, create(GetOctResponseSchema));
}

/** A plain grpc-js echo, client and server in one process each: what a call costs before anything is done. */
export async function open(): Promise<Load> {
  const server = new Server();
  server.addService(serviceDefinition(OctService), {
    getOct: echo,
    createOct: echo,
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const channel = openChannel({
    address: `127.0.0.1:${port}`,
    credentials: credentials.createInsecure(),
    token: 'none',
    timeoutMs: 30_000,
  });
  const client = channel.client(OctService);
  return {
    async act() {
      await client.getOct({ merchantId: 'bench', requestId: 'x' });
    },
    close() {
      channel.close();
      server.forceShutdown();
    },
  };
}
