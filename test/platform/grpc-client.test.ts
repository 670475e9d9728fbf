import assert from 'node:assert/strict';
import { credentials, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { openChannel, serviceDefinition } from '../../platform/grpc-client.ts';
import { Health } from '../../proto/gen/grpc/health/v1/health_pb.js';
import { ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

describe('openChannel()', () => {
  const server = new Server();
  let channel: ReturnType<typeof openChannel>;
  let address: string;

  before(async () => {
    // A peer that accepts connections and never answers.
    const silent = () => undefined;
    server.addService(serviceDefinition(Health), { check: silent, watch: silent });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    address = `127.0.0.1:${port}`;
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

  it('connects to the address itself, although a proxy is set for the web', async () => {
    const { http_proxy: before } = process.env;
    // Nothing listens there.
    process.env.http_proxy = 'http://127.0.0.1:1';
    const direct = openChannel({ address, credentials: credentials.createInsecure(), token: 't', timeoutMs: 5_000 });
    if (before === undefined) delete process.env.http_proxy;
    else process.env.http_proxy = before;
    // The peer itself says that it does not serve this.
    await assert.rejects(direct.client(ProcessorService).describe({}), { code: status.UNIMPLEMENTED });
    direct.close();
  });

  it('cancels a call whose deadline has passed', async () => {
    await assert.rejects(channel.client(Health).check({}, { timeoutMs: 20 }), { code: status.DEADLINE_EXCEEDED });
  });
});
