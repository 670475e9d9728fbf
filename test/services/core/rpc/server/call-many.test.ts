/** Calls of one moment between our own processes, sent as one: each ends as it would alone. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { create, toBinary } from '@bufbuild/protobuf';
import { createServiceImplSpec, type HandlerContext } from '@connectrpc/connect';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { CALL_MANY } from '../../../../../platform/call-many.ts';
import { openChannel, serviceDefinition } from '../../../../../platform/grpc-client.ts';
import {
  CallManyRequestSchema,
  CallManyResponseSchema,
  CallService,
} from '../../../../../proto/gen/holdfast/v1/call_pb.js';
import { type GetOctRequest, GetOctResponseSchema, OctService } from '../../../../../proto/gen/holdfast/v1/oct_pb.js';
import { HoldfastError } from '../../../../../services/core/domain/refusal.ts';
import { mountServices } from '../../../../../services/core/rpc/server/mount-services.ts';
import { translateError } from '../../../../../services/core/rpc/server/translate-error.ts';

const TOKEN = 't'.repeat(40);

describe('calls of one moment', () => {
  let server: Server;
  let channel: ReturnType<typeof openChannel>;
  let port: number;
  let answer: (requestId: string, context: HandlerContext) => Promise<void> | void;
  let streams = 0;
  const onStream = () => {
    streams += 1;
  };

  const listen = async (mount: (server: Server) => void) => {
    server = new Server({ 'grpc.max_receive_message_length': 1024 * 1024 });
    mount(server);
    port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port ?? 0}`, ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    const address = `127.0.0.1:${port}`;
    channel = openChannel({
      address,
      credentials: credentials.createInsecure(),
      token: TOKEN,
      timeoutMs: 5_000,
    });
  };
  const methods = createServiceImplSpec<typeof OctService>(OctService, {
    getOct: async ({ requestId }, context) => {
      await answer(requestId, context);
      return { oct: { requestId, merchantReference: requestId.startsWith('wide') ? 'x'.repeat(1_500_000) : '' } };
    },
  }).methods;

  before(() => subscribe('http2.server.stream.start', onStream));
  after(() => unsubscribe('http2.server.stream.start', onStream));
  beforeEach(async () => {
    answer = () => undefined;
    await listen((server) =>
      mountServices(server, [{ service: OctService, methods } as never], [], new AbortController().signal),
    );
    await ask('first');
    streams = 0;
  });
  afterEach(() => {
    channel.close();
    server.forceShutdown();
  });

  const ask = async (requestId: string, options: object = {}) =>
    (await channel.gathering(OctService).getOct({ merchantId: 'acme', requestId }, options)).oct?.requestId;

  it('are one call of HTTP/2, and each is answered when it is done', async () => {
    const last = Promise.withResolvers<void>();
    answer = (requestId) => (requestId === 'slow' ? last.promise : undefined);
    const slow = ask('slow');
    assert.deepEqual(await Promise.all([ask('a'), ask('b')]), ['a', 'b']);
    last.resolve();
    assert.equal(await slow, 'slow');
    assert.equal(streams, 1);
  });

  it('keep their own deadline, metadata, credential and refusal', async () => {
    const told: Record<string, (string | null)[]> = {};
    answer = (requestId, { requestHeader: header }) => {
      told[requestId] = ['authorization', 'x-own', 'holdfast-deadline-ms'].map((name) => header.get(name));
      if (requestId === 'late') return new Promise(() => undefined);
      if (requestId === 'refused') throw translateError(new HoldfastError('CARD_DECLINED', 'the card was declined'));
    };
    const failure = (call: Promise<unknown>) =>
      call.then(
        () => assert.fail('it is refused'),
        (error: ServiceError) => error,
      );
    const [late, refused, fine] = await Promise.all([
      failure(ask('late', { timeoutMs: 100 })),
      failure(ask('refused')),
      ask('fine', { metadata: { 'x-own': 'mine' } }),
    ]);
    assert.equal(fine, 'fine');
    assert.equal(late.code, status.DEADLINE_EXCEEDED);
    const alone = await failure(ask('refused'));
    assert.equal(alone.code, status.FAILED_PRECONDITION);
    assert.deepEqual([refused.code, refused.details, refused.message], [alone.code, alone.details, alone.message]);
    const details = (error: ServiceError) => error.metadata.get('grpc-status-details-bin');
    assert.deepEqual(details(refused), details(alone));
    assert.deepEqual(told.fine?.slice(0, 2), [`Bearer ${TOKEN}`, 'mine']);
    assert.equal(told.refused?.[1], null);
    assert(Number(told.fine?.[2]) - Number(told.late?.[2]) > 4_000);
  });

  it('fail as they would alone when the connection breaks, and when there is none', async () => {
    const reached = Promise.withResolvers<void>();
    answer = (requestId) => {
      if (requestId === 'b') reached.resolve();
      return new Promise(() => undefined);
    };
    const calls = Promise.allSettled([ask('a'), ask('b')]);
    await reached.promise;
    server.forceShutdown();
    const codes = (settled: PromiseSettledResult<unknown>[]) =>
      settled.map((each) => (each.status === 'rejected' ? each.reason.code : each.value));
    for (const code of codes(await calls))
      assert([status.UNAVAILABLE, status.INTERNAL, status.CANCELLED].includes(code));
    const refused = await Promise.allSettled([ask('a'), ask('b')]);
    assert.deepEqual(codes(refused), [status.UNAVAILABLE, status.UNAVAILABLE]);
    for (const each of refused) {
      assert(each.status === 'rejected' && each.reason.details.includes('No connection established'));
    }
  });

  it('are sent in parts when they are many or large', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `many-${index}`);
    assert.deepEqual(await Promise.all(ids.map((id) => ask(id))), ids);
    assert.equal(streams, 3);
    const large = ids.slice(0, 40).map((id) => id + 'x'.repeat(60_000));
    assert.deepEqual(await Promise.all(large.map((id) => ask(id))), large);
    const wide = ids.slice(0, 4).map((id) => `wide-${id}`);
    assert.deepEqual(await Promise.all(wide.map((id) => ask(id))), wide);
  });

  it('are sent alone to a core that does not know this', async () => {
    channel.close();
    server.forceShutdown();
    await listen((server) =>
      server.addService(serviceDefinition(OctService), {
        getOct: ({ request }: { request: GetOctRequest }, callback: (error: null, answer: object) => void) =>
          callback(null, create(GetOctResponseSchema, { oct: { requestId: request.requestId } })),
      }),
    );
    assert.deepEqual(await Promise.all([ask('a'), ask('b')]), ['a', 'b']);
  });

  it('fail by themselves when they, or their responses, cannot be read', async () => {
    const unreadableCall = channel.gathering(OctService).createOct({ amount: 'none' as never });
    const [unreadable, beside] = await Promise.allSettled([unreadableCall, ask('beside it')]);
    assert.equal(unreadable.status, 'rejected');
    assert.deepEqual(beside, { status: 'fulfilled', value: 'beside it' });
    channel.close();
    server.forceShutdown();
    const garbage = {
      results: [0, 1].map((index) => ({ index, result: { case: 'response', value: Buffer.of(0xff) } })),
    };
    await listen((server) =>
      server.addService(serviceDefinition(CallService), {
        callMany(stream: ServerWritableStream<object, object>) {
          stream.write(create(CallManyResponseSchema, garbage as never));
          stream.end();
        },
      }),
    );
    for (const call of await Promise.allSettled([ask('a'), ask('b')])) {
      assert(call.status === 'rejected');
      assert.equal(call.reason.code, status.INTERNAL);
    }
  });

  it('refuses more than it may be, bytes that are no message, and methods that are none', async () => {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const send = (bytes: Uint8Array) =>
      new Promise<ServiceError>((resolve, reject) => {
        const same = (buffer: Buffer) => buffer;
        const call = client.makeServerStreamRequest(CALL_MANY, same, same, Buffer.from(bytes), new Metadata(), {});
        call.on('error', resolve).on('end', reject).resume();
      });
    const encoded = (count: number, method: string) =>
      toBinary(CallManyRequestSchema, create(CallManyRequestSchema, { calls: Array(count).fill({ method }) }));
    assert.equal((await send(encoded(65, 'holdfast.v1.OctService/GetOct'))).code, status.INVALID_ARGUMENT);
    assert.equal((await send(Buffer.of(0xff))).code, status.INVALID_ARGUMENT);
    client.close();
    const unknown = channel.gathering(OctService).createOct({});
    await Promise.all([assert.rejects(unknown, { code: status.UNIMPLEMENTED }), ask('beside it')]);
  });
});
