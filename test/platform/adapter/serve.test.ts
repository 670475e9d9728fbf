/** What serves the contract of processors: each call by itself, and those of one moment together. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { type Methods, RpcError, serveProcessor } from '../../../platform/adapter/serve.ts';
import { openChannel } from '../../../platform/grpc-client.ts';
import { openLog } from '../../../platform/log.ts';
import {
  Answer,
  type CaptureRequest,
  ProcessorService,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { openProcessor } from '../../../services/core/processor/processor.ts';

const CREDENTIAL = 'c'.repeat(40);
const NEXT_CREDENTIAL = 'n'.repeat(40);

describe('serveProcessor()', () => {
  let server: Awaited<ReturnType<typeof serveProcessor>>;
  let capture: (request: CaptureRequest) => Promise<object>;
  const opened: { close(): void }[] = [];
  let streams = 0;
  const onStream = () => {
    streams += 1;
  };

  before(() => subscribe('http2.server.stream.start', onStream));
  after(() => unsubscribe('http2.server.stream.start', onStream));
  beforeEach(async () => {
    capture = async ({ requestId }) => ({ result: { answer: Answer.APPROVED, reference: requestId } });
    const methods = {
      capture: (request: CaptureRequest) => capture(request),
      describe: async () => ({ name: 'test', identity: 'its books', authorizations: {} }),
    };
    server = await serveProcessor({
      methods: methods as unknown as Methods,
      log: openLog('test', 'silent'),
      credential: `${NEXT_CREDENTIAL},${CREDENTIAL}`,
      host: '127.0.0.1',
      port: 0,
      setting: 'PORT',
      tls: undefined,
      graceMs: 0,
    });
  });
  afterEach(async () => {
    for (const { close } of opened.splice(0)) close();
    await server.close();
  });

  const request = (reference: string) => ({
    requestId: uuidv7(),
    authorizationRequestId: uuidv7(),
    merchantId: 'acme',
    amount: 1n,
    currency: 'EUR',
    terminalId: reference,
  });

  /** A client that makes calls of one moment together, and one that does not. */
  function clients(token = CREDENTIAL) {
    const address = `127.0.0.1:${server.port}`;
    const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 5_000 });
    opened.push(channel);
    return { together: channel.gathering(ProcessorService), alone: channel.client(ProcessorService) };
  }

  /** The processor, as core sees it. */
  function processorThere(report: Parameters<typeof openProcessor>[0]['report']) {
    const processor = openProcessor({
      name: 'test',
      address: `127.0.0.1:${server.port}`,
      credential: CREDENTIAL,
      tls: undefined,
      timeoutMs: 5_000,
      mostCallers: 100,
      identities: { recall: async (_, shown) => shown, differs: () => undefined },
      report,
    });
    opened.push(processor);
    return processor;
  }

  const endOf = (call: Promise<object>) =>
    call.then(
      (response) => JSON.stringify(response),
      ({ code, details }: ServiceError) => `${status[code]}: ${details}`,
    );

  it('ends calls that come together as each would end alone', async () => {
    const { together, alone } = clients();
    capture = async ({ terminalId, requestId }) => {
      if (terminalId === 'known') throw new RpcError(status.ALREADY_EXISTS, 'it is another');
      if (terminalId === 'broken') throw new Error('not told');
      return { result: { answer: Answer.DECLINED, errorCode: 'no', reference: requestId.slice(-8) } };
    };
    const requests = ['declined', 'known', 'broken', 'declined'].map(request);
    const all = [...requests, { ...request('wrong'), amount: 0n }];
    const ends = await Promise.all(all.map((one) => endOf(together.capture(one))));
    const [, known, broken, , wrong] = ends;
    assert.deepEqual([known, broken], ['ALREADY_EXISTS: it is another', 'INTERNAL: the adapter failed']);
    assert.match(wrong ?? '', /^INVALID_ARGUMENT: amount/);
    for (const [index, one] of all.entries()) assert.equal(ends[index], await endOf(alone.capture(one)));
    assert.equal(streams, 1 + all.length);
  });

  it('refuses each of them without the credential', async () => {
    const { together } = clients('another');
    capture = () => assert.fail('it was called');
    const ends = await Promise.all([1, 2].map(() => endOf(together.capture(request('any')))));
    assert.deepEqual(ends, Array(2).fill('UNAUTHENTICATED: a credential is needed'));
  });

  it('takes both credentials while one is being replaced, and not their list', async () => {
    const ends = [NEXT_CREDENTIAL, CREDENTIAL, `${NEXT_CREDENTIAL},${CREDENTIAL}`].map((token) =>
      endOf(clients(token).alone.capture(request('any'))),
    );
    const [next, old, list] = await Promise.all(ends);
    for (const end of [next, old]) assert.match(end ?? '', /"answer"/);
    assert.equal(list, 'UNAUTHENTICATED: a credential is needed');
  });

  it('is sent what core sends in one moment in one message, because it says so', async () => {
    const processor = processorThere(({ message }) => assert.fail(message));
    const send = () => processor.send('capture', request('any'));
    await send();
    streams = 0;
    const last = Promise.withResolvers<object>();
    let calls = 0;
    capture = async ({ requestId }) => {
      calls += 1;
      return calls === 3 ? last.promise : { result: { answer: Answer.APPROVED, reference: requestId } };
    };
    const [first, second, third] = [send(), send(), send()];
    assert.deepEqual(
      (await Promise.all([first, second])).map(({ answer }) => answer),
      ['APPROVED', 'APPROVED'],
    );
    last.resolve({ result: { answer: Answer.DECLINED } });
    assert.equal((await third).answer, 'DECLINED');
    assert.equal(streams, 1);
  });

  it('names what each answer is about, by which core sees that two were mixed up', async () => {
    const wrong: string[] = [];
    const processor = processorThere(({ field }) => wrong.push(field));
    const send = (requestId: string) => processor.send('capture', { ...request('any'), requestId });
    await send(uuidv7());
    streams = 0;
    const [first = '', second = '', ...rest] = Array.from({ length: 6 }, () => uuidv7());
    const otherOf = new Map([
      [first, second],
      [second, first],
    ]);
    // As a ledger answers: by the operation that it has carried out.
    capture = async ({ requestId }) => ({
      result: { answer: Answer.APPROVED, requestId: otherOf.get(requestId) ?? requestId },
    });
    const outcomes = await Promise.all([first, second, ...rest].map(send));
    assert.equal(streams, 1, 'they came together');
    assert.deepEqual(
      outcomes.map(({ answer }) => answer),
      ['UNKNOWN', 'UNKNOWN', ...rest.map(() => 'APPROVED')],
    );
    assert.deepEqual(wrong, ['result.request_id', 'result.request_id']);
    assert.equal((await send(first)).answer, 'UNKNOWN', 'alone, too');
  });

  it('names a refusal that nothing in a ledger stands behind by what was asked', async () => {
    capture = async () => ({ result: { answer: Answer.NOT_PERFORMED, errorCode: 'fenced' } });
    const asked = request('any');
    const answer = await clients().alone.capture(asked);
    assert.equal(answer.result?.requestId, asked.requestId);
  });
});
