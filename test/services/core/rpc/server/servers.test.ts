/** The servers of core with standard tools: health, reflection, deadlines, TLS and mutual TLS, shutdown. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { service as health } from 'grpc-health-check';
import { Agent, fetch } from 'undici';
import { openChannel } from '../../../../../platform/grpc-client.ts';
import { channelSecurity, readChannelTls } from '../../../../../platform/tls.ts';
import { OperationService } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { openConnectServer } from '../../../../../services/core/rpc/server/connect-server.ts';
import { startCore } from '../../../../../services/core/start/start-core.ts';
import { freePort } from '../../../../../services/quickstart/ports.ts';
import { makeCertificates } from '../../../../certificates.ts';
import { createDatabase } from '../../../../database.ts';
import { forSuite } from '../../../../suite.ts';
import { sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

describe('servers of core', () => {
  const stage = forSuite(openStage);
  const files = forSuite(makeCertificates);

  const anyPorts = () => ({ ...stage.settings, CORE_PORT: 0, CONNECT_PORT: 0 });

  const connections = async () => {
    const text = 'select count(*)::int as n from pg_stat_activity where datname = current_database()';
    return (await sql<{ n: number }>(stage, text))[0]?.n ?? assert.fail();
  };

  const watching = (address: string, token: string) => {
    const channel = openChannel({ address, token, timeoutMs: 5_000, ...channelSecurity(undefined) });
    return { channel, operations: channel.client(OperationService) };
  };

  it('reports SERVING, and NOT_SERVING when it stops; streams end with UNAVAILABLE', async () => {
    const core = await startCore(anyPorts());
    const address = `127.0.0.1:${core.corePort}`;
    const { channel, operations } = watching(address, stage.tokens.internal);
    const words: string[] = [];
    const client = new Client(address, credentials.createInsecure());
    const watch = health.Watch;
    assert(watch);
    const stream = client.makeServerStreamRequest(watch.path, watch.requestSerialize, watch.responseDeserialize, {
      service: 'holdfast.v1.OperationService',
    });
    stream.on('error', () => undefined);
    const heard = new Promise<void>((resolve) =>
      stream.on('data', ({ status: word }: { status: string }) => {
        words.push(word);
        resolve();
      }),
    );
    assert.equal(await channel.isServing(), true);
    await heard;
    const following = operations.watchOperations({})[Symbol.asyncIterator]();
    await following.next();
    const ended = assert.rejects(following.next(), { code: status.UNAVAILABLE });
    await core.close();
    await ended;
    assert.deepEqual(words, ['SERVING', 'NOT_SERVING']);
    assert.equal(await channel.isServing(), false);
    client.close();
    channel.close();
  });

  it('closes though a session was destroyed a moment before, for which grpc-js waits for ever', async () => {
    const core = await startCore(anyPorts());
    const sessions = new Set<Http2Session>();
    const onStream = (message: unknown) => {
      const { session } = (message as { stream: ServerHttp2Stream }).stream;
      if (session?.socket.localPort === core.corePort) sessions.add(session);
    };
    subscribe('http2.server.stream.start', onStream);
    const { channel } = watching(`127.0.0.1:${core.corePort}`, stage.tokens.internal);
    assert.equal(await channel.isServing(), true);
    unsubscribe('http2.server.stream.start', onStream);
    for (const session of sessions) session.destroy();
    assert.equal(sessions.size, 1);
    await core.close();
    channel.close();
  });

  it('answers INVALID_ARGUMENT to bytes that are no message', async () => {
    const client = new Client(`127.0.0.1:${stage.cores[0]?.corePort}`, credentials.createInsecure());
    const same = (bytes: Buffer) => bytes;
    const error = await new Promise<ServiceError | null>((resolve) =>
      client.makeUnaryRequest('/holdfast.v1.OctService/GetOct', same, same, Buffer.from([0xff]), resolve),
    );
    client.close();
    assert.equal(error?.code, status.INVALID_ARGUMENT);
  });

  it('reflects its whole contract', async () => {
    const services = await reflected(`127.0.0.1:${stage.cores[0]?.corePort}`);
    const about = ['Merchant', 'Notification', 'WebhookEndpoint', 'Relay', 'Operator', 'Audit'];
    const names = ['Preauthorization', 'Refund', 'Oct', 'Operation', ...about];
    const ours = names.map((name) => `holdfast.v1.${name}Service`);
    const others = ['holdfast.processor.v1.ProcessorEventService', 'grpc.health.v1.Health'];
    assert.deepEqual(services.sort(), [...ours, ...others].sort());
  });

  it('enforces the deadline of a call', async () => {
    const { holds } = stage.channel('internal');
    const late = holds.listPreauthorizations({ merchantId: 'nobody' }, { timeoutMs: 0 });
    await assert.rejects(late, (error: ServiceError) => error.code === status.DEADLINE_EXCEEDED);
  });

  it('serves TLS on both servers, and with a client authority only clients with its certificate', async () => {
    const tls = { CORE_TLS_CERT: files.server.cert, CORE_TLS_KEY: files.server.key };
    const core = await startCore({ ...anyPorts(), ...tls, CORE_TLS_CLIENT_CA: files.ca });
    const address = `127.0.0.1:${core.corePort}`;
    const called = async (channelFiles: Parameters<typeof readChannelTls>[1]) => {
      const security = channelSecurity(readChannelTls('CORE_TLS', channelFiles));
      const channel = openChannel({ address, token: stage.tokens.internal, timeoutMs: 3_000, ...security });
      try {
        return await why(channel.client(OperationService).getOperation({ requestId: NOBODYS }));
      } finally {
        channel.close();
      }
    };
    assert.equal(await called({ ca: files.ca, ...files.client }), 'OPERATION_NOT_FOUND');
    assert.equal(await called({ ca: files.ca, ...files.client, name: 'core.test' }), 'OPERATION_NOT_FOUND');
    assert.equal(await called({ ca: files.ca }), '');
    assert.equal(await called({ ca: files.ca, ...files.stranger }), '');
    assert.equal(await called({ ca: files.ca, ...files.client, name: 'other.test' }), '');
    assert.equal(await called({}), '');

    const url = `https://127.0.0.1:${core.connectPort}/holdfast.v1.OperationService/GetOperation`;
    for (const allowH2 of [false, true]) {
      const ask = async (own: { cert?: Buffer; key?: Buffer }) => {
        const dispatcher = new Agent({ allowH2, connect: { ca: readFileSync(files.ca), ...own } });
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${stage.tokens.internal}` };
        const body = JSON.stringify({ requestId: NOBODYS });
        try {
          return (await fetch(url, { method: 'POST', headers, body, dispatcher })).status;
        } finally {
          await dispatcher.close();
        }
      };
      const own = { cert: readFileSync(files.client.cert), key: readFileSync(files.client.key) };
      assert.equal(await ask(own), 404);
      await assert.rejects(ask({}));
    }
    await core.close();
  });

  it('names the setting of a port that is in use', async () => {
    const port = stage.cores[0]?.connectPort ?? assert.fail();
    const opening = openConnectServer({ services: [], interceptors: [], host: '127.0.0.1', port, tls: undefined });
    await assert.rejects(opening, { message: `CONNECT_PORT: cannot listen on 127.0.0.1:${port} (EADDRINUSE)` });
  });

  it('leaves nothing open when a port is in use', async () => {
    const taken = stage.cores[0]?.connectPort ?? assert.fail();
    const free = await freePort();
    const before = await connections();
    await assert.rejects(startCore({ ...anyPorts(), CORE_PORT: free, CONNECT_PORT: taken }), /CONNECT_PORT/);
    await assert.rejects(startCore({ ...anyPorts(), CORE_PORT: free, CORE_METRICS_PORT: taken }), /CORE_METRICS_PORT/);
    // PostgreSQL takes a moment to notice.
    while ((await connections()) > before);
    await (await startCore({ ...anyPorts(), CORE_PORT: free })).close();
  });

  it('does not start on a database without tables', async () => {
    const database = await createDatabase();
    const core = startCore({ ...anyPorts(), DATABASE_URL: database.url });
    await assert.rejects(core, /^Error: DATABASE_URL: .*run npm run migrate$/).finally(() => database.drop());
  });

  it('names a wrong TLS file and does not start', async () => {
    const settings = { ...anyPorts(), CORE_TLS_CERT: files.server.cert, CORE_TLS_KEY: files.client.key };
    await assert.rejects(startCore(settings), { message: 'CORE_TLS_KEY does not belong to CORE_TLS_CERT' });
    const processor = { ...anyPorts(), PROCESSOR_TLS_CA: '/no/such/file' };
    await assert.rejects(startCore(processor), /^Error: PROCESSOR_TLS_CA: the file cannot be read/);
  });
});

const NOBODYS = '0192e8a0-0000-7000-8000-000000000000';

/** Returns the names that server reflection lists. */
async function reflected(address: string): Promise<string[]> {
  const reflection = loadSync(
    `${import.meta.dirname}/../../../../../node_modules/@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto`,
  );
  const definition = reflection['grpc.reflection.v1.ServerReflection'] as unknown as Record<
    string,
    typeof health.Watch
  >;
  const method = definition.ServerReflectionInfo;
  assert(method);
  const client = new Client(address, credentials.createInsecure());
  const stream = client.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize);
  stream.on('error', () => undefined);
  stream.write({ listServices: '' });
  const [answer] = await once(stream, 'data');
  stream.cancel();
  client.close();
  const { service } = (answer as { listServicesResponse: { service: { name: string }[] } }).listServicesResponse;
  return service.map(({ name }) => name);
}
