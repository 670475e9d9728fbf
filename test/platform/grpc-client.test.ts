import assert from 'node:assert/strict';
import { credentials, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { openChannel, serviceDefinition } from '../../platform/grpc-client.ts';
import { Health } from '../../proto/gen/grpc/health/v1/health_pb.js';

describe('openChannel()', () => {
  const server = new Server();
  let channel: ReturnType<typeof openChannel>;

  before(async () => {
    // A peer that accepts connections and never answers.
    const silent = () => undefined;
    server.addService(serviceDefinition(Health), { check: silent, watch: silent });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    const address = `127.0.0.1:${port}`;
    channel = openChannel({ address, credentials: credentials.createInsecure(), token: 't', timeoutMs: 5_000 });
  });
  after(() => {
    channel.close();
    server.forceShutdown();
  });

  const calls = {
    unary: (signal: AbortSignal) => channel.client(Health).check({}, { signal }),
    stream: (signal: AbortSignal) => channel.client(Health).watch({}, { signal })[Symbol.asyncIterator]().next(),
  };

  for (const [kind, call] of Object.entries(calls)) {
    it(`cancels a ${kind} call when its signal aborts, before or while it runs`, async () => {
      await assert.rejects(call(AbortSignal.abort()), { code: status.CANCELLED });
      const abort = new AbortController();
      const running = assert.rejects(call(abort.signal), { code: status.CANCELLED });
      setImmediate(() => abort.abort());
      await running;
    });
  }

  it('cancels a call whose deadline has passed', async () => {
    await assert.rejects(channel.client(Health).check({}, { timeoutMs: 20 }), { code: status.DEADLINE_EXCEEDED });
  });
});
