import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type EventEmitter, once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { WatchNotificationsResponseSchema } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import type { OperationKind } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OPERATOR_TOKEN, refusal } from '../fake-core.ts';
import { CAPTURE_ID } from '../rest/examples.ts';
import { API_KEY, MERCHANTS, OTHER_API_KEY, useStage } from '../stage.ts';
import { type Event, eventsOf } from './event-stream.ts';

const HEARTBEAT_MS = 200;

describe('GET /operations/stream', () => {
  const stage = useStage({}, { heartbeatMs: HEARTBEAT_MS });
  const { core } = stage;
  beforeEach(() => {
    core.setMerchants(MERCHANTS);
    core.onWatch = (call) => call.write(core.watchMessage({ resumeToken: 'start' }));
  });

  const operation = (number: number) =>
    core.watchMessage({
      operation: { requestId: CAPTURE_ID, kind: 2 as OperationKind, state: 4, amount: BigInt(number), currency: 'EUR' },
      resumeToken: `t${number}`,
    });

  /** Opens a stream; returns its events and a function that closes it. */
  const open = async (headers: Record<string, string> = {}, apiKey = API_KEY) => {
    const leaving = new AbortController();
    const response = await stage.fetch('GET', '/operations/stream', { headers, apiKey, signal: leaving.signal });
    assert.equal(response.status, 200);
    return { response, events: eventsOf(response), leave: () => leaving.abort() };
  };

  it('opens two streams of a key at a time, and those of another key meanwhile', async () => {
    const merchants: string[] = [];
    const answers: (() => void)[] = [];
    core.onWatch = (call) => {
      merchants.push(String(core.lastRequest.merchantId));
      answers.push(() => call.write(core.watchMessage({ resumeToken: 'start' })));
    };
    const opened = Array.from({ length: 6 }, () => open());
    while (merchants.length < 2) await delay(5);
    const other = open({}, OTHER_API_KEY);
    while (merchants.length < 3) await delay(5);
    assert.deepEqual(merchants, ['acme', 'acme', 'bolt']);
    while (answers.length > 0 || merchants.length < 7) {
      answers.shift()?.();
      await delay(5);
    }
    for (const { leave } of await Promise.all([...opened, other])) leave();
    assert.deepEqual(merchants.slice(3), Array(4).fill('acme'));
  });

  it('sends results in order, each with the token to resume from', async () => {
    core.onWatch = (call) => {
      for (const number of [1, 2, 3]) call.write(operation(number));
    };
    const { response, events, leave } = await open();
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    for (const number of [1, 2, 3]) {
      const { id, event, data } = await nextWithData(events);
      assert.deepEqual([id, event], [`t${number}`, 'operation']);
      assert.deepEqual(JSON.parse(data ?? ''), {
        requestId: CAPTURE_ID,
        operation: 'CAPTURE',
        status: 'OK',
        merchantId: '',
        amount: number,
        currency: 'EUR',
      });
    }
    assert.deepEqual([core.lastRequest.merchantId, core.lastRequest.resumeToken], ['acme', '']);
    leave();
  });

  it('resumes from Last-Event-ID', async () => {
    const { leave } = await open({ 'last-event-id': 't41' });
    assert.equal(core.lastRequest.resumeToken, 't41');
    leave();
  });

  it('sends a comment when there is no event', async () => {
    const { events, leave } = await open();
    const seen: Event[] = [];
    while (seen.filter(({ comment, id }) => comment === 'heartbeat' && id === undefined).length < 2) {
      seen.push(await next(events));
    }
    assert.equal(seen.find(({ id }) => id !== undefined)?.id, 'start', 'a token before the first result');
    leave();
  });

  it('returns 410 before it starts when the token is too old', async () => {
    core.onWatch = (call) => call.emit('error', refusal(status.OUT_OF_RANGE, { reason: 'STREAM_TOKEN_TOO_OLD' }));
    const answer = await stage.ask('GET', '/operations/stream', { headers: { 'last-event-id': 'old' } });
    assert.deepEqual([answer.status, answer.body.code], [410, 'STREAM_TOKEN_TOO_OLD']);
    assert.equal(answer.headers.get('content-type'), 'application/problem+json');
  });

  it('is answered when core has said where it begins, or why it does not, however late', async () => {
    core.onWatch = () => undefined;
    const watching = core.nextWatch();
    mock.timers.enable({ apis: ['setTimeout'] });
    const asked = stage.fetch('GET', '/operations/stream', { apiKey: API_KEY });
    const call = await watching;
    mock.timers.tick(30_000);
    mock.timers.reset();
    call.emit('error', refusal(status.OUT_OF_RANGE, { reason: 'STREAM_TOKEN_TOO_OLD' }));
    assert.equal((await asked).status, 410);
  });

  it('returns 400 for a malformed token', async () => {
    const answer = await stage.ask('GET', '/operations/stream', { headers: { 'last-event-id': 'x'.repeat(65) } });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.errors[0].field, 'Last-Event-ID');
    assert.deepEqual(core.calls, []);
  });

  it('names the header when core does not know the token', async () => {
    core.onWatch = (call) =>
      call.emit(
        'error',
        refusal(status.INVALID_ARGUMENT, {
          reason: 'INVALID_REQUEST',
          message: 'the request is not valid: resume_token',
          violations: [{ field: 'resume_token', description: 'is not a token of this stream' }],
        }),
      );
    const { status: answered, body } = await stage.ask('GET', '/operations/stream', {
      headers: { 'last-event-id': '1' },
    });
    assert.equal(answered, 400);
    assert.equal(body.detail, 'The Last-Event-ID header is not valid.');
    assert.deepEqual(body.errors, [{ field: 'Last-Event-ID', message: 'must be the id of an event of this stream' }]);
  });

  it('answers HEAD without opening a stream', async () => {
    assert.equal((await stage.ask('HEAD', '/operations/stream')).status, 200);
    assert.deepEqual(core.calls, []);
  });

  it('resumes from the last token when core is lost', async () => {
    const { events, leave } = await open();
    const first = core.watches.at(-1);
    first?.write(operation(7));
    assert.equal((await nextWithData(events)).id, 't7');
    const again = core.nextWatch();
    first?.emit('error', refusal(status.UNAVAILABLE, {}));
    const second = await again;
    assert.equal(second.request.resumeToken, 't7');
    second.write(operation(8));
    assert.equal((await nextWithData(events)).id, 't8');
    const third = core.nextWatch();
    second.end();
    (await third).write(operation(9));
    assert.equal((await nextWithData(events)).id, 't9');
    leave();
  });

  it('ends when core cannot resume from the last token', async () => {
    const { events } = await open();
    core.watches.at(-1)?.emit('error', refusal(status.OUT_OF_RANGE, { reason: 'STREAM_TOKEN_TOO_OLD' }));
    await drained(events);
  });

  it('ends when its key is revoked, and other streams do not', async () => {
    const mine = await open({}, OTHER_API_KEY);
    const other = await open();
    core.setMerchants([{ merchantId: 'bolt', apiKeys: [] }]);
    await drained(mine.events);
    core.watches.at(-1)?.write(operation(1));
    assert.equal((await nextWithData(other.events)).id, 't1');
    other.leave();
  });

  it('sends notifications the same way, in the name of the key', async () => {
    core.onWatch = () => undefined;
    const watching = core.nextWatch();
    const leaving = new AbortController();
    const asked = stage.fetch('GET', '/notifications/stream', {
      headers: { 'last-event-id': 't41' },
      apiKey: API_KEY,
      signal: leaving.signal,
    });
    const call = await watching;
    const { method, apiKeySha256 } = core.calls.at(-1) ?? {};
    assert.deepEqual([method, core.lastRequest.resumeToken], ['watchNotifications', 't41']);
    assert.equal(apiKeySha256, createHash('sha256').update(API_KEY).digest('base64'));
    const headers = [{ name: 'webhook-id', value: 'w' }];
    const body = '{"amount":10.50,"text":"ä\\n"}';
    const notification = { path: '/webhook/processor/payment/captured', headers, body };
    call.write(create(WatchNotificationsResponseSchema, { notification, resumeToken: 't42' }) as never);
    const { id, event, data } = await nextWithData(eventsOf(await asked));
    assert.deepEqual([id, event], ['t42', 'notification']);
    assert.deepEqual(JSON.parse(data ?? ''), { ...notification, headers: { 'webhook-id': 'w' } });
    leaving.abort();
  });

  it('ends the call to core when the client disconnects', async () => {
    const { leave } = await open();
    const call = core.watches.at(-1);
    assert(call);
    const cancelled = once(call, 'cancelled');
    leave();
    await cancelled;
  });

  it('does not call core when the client disconnects before it begins', async () => {
    const checking = Promise.withResolvers<void>();
    const answering = Promise.withResolvers<void>();
    core.onCheck = () => {
      checking.resolve();
      return answering.promise;
    };
    const leaving = new AbortController();
    const ask = { apiKey: OPERATOR_TOKEN, signal: leaving.signal };
    const asking = stage.fetch('GET', '/operator/operations/stream', ask);
    await checking.promise;
    leaving.abort();
    await assert.rejects(asking);
    // By its answer the gateway has read that the connection before was closed.
    await stage.ask('GET', '/healthz');
    core.answers.set('getOverview', () => ({}));
    answering.resolve();
    assert.equal((await stage.ask('GET', '/operator/overview', { apiKey: OPERATOR_TOKEN })).status, 200);
    assert.deepEqual(
      core.calls.map(({ method }) => method),
      ['getOverview'],
    );
  });

  /**
   * Opens a stream and reads nothing until core cannot write any more; returns how many 100 kB results core could
   * write.
   */
  const stuck = async (apiKey: string) => {
    const large = core.watchMessage({ operation: { statusInfo: 'x'.repeat(100_000) }, resumeToken: 't' });
    let written = 0;
    let isFull = false;
    core.onWatch = (call) => {
      const more = () => {
        isFull = false;
        while (written < 2_000 && !isFull) {
          isFull = !call.write(large);
          written++;
        }
      };
      call.on('drain', more);
      more();
    };
    const response = await paused(stage.origin, apiKey);
    // On a busy machine, one look may come before the next write.
    for (let looks = 0, seen = -1; looks < 20; await delay(20)) {
      looks = seen === written && isFull ? looks + 1 : 0;
      seen = written;
    }
    return { response, written };
  };

  it('reads from core no faster than its client reads, and still ends', async () => {
    const { response, written } = await stuck(API_KEY);
    assert.ok(written < 500, `core could write ${written} of 100 kB`);
    core.setMerchants([{ merchantId: 'acme', apiKeys: [] }]);
    await once(core.watches.at(-1) as EventEmitter, 'cancelled');
    response.resume();
    await once(response, 'close');
  });

  it('ends for a client that reads nothing, however often credentials change', async () => {
    // Two seconds where the machine has time for it. A change that put it off would put it off for ever.
    const { response } = await stuck(OTHER_API_KEY);
    stage.lines.length = 0;
    const changing = setInterval(() => core.setMerchants([{ merchantId: 'bolt', apiKeys: [] }]), 100);
    const isEnd = ({ event, fields }: (typeof stage.lines)[number]) =>
      event === 'request' && fields.merchantId === 'bolt';
    await stage.logged(isEnd);
    clearInterval(changing);
    response.destroy();
    assert.equal(stage.lines.find(isEnd)?.fields.aborted, true);
  });
});

describe('GET /operations/stream, too many at once', () => {
  const stage = useStage({ STREAMS_PER_API_KEY: '2' });

  it('returns 429 above the limit of a key, until one of its streams ends', async () => {
    stage.core.onWatch = (call) => call.write(stage.core.watchMessage({ resumeToken: 'start' }));
    const open = async (apiKey = API_KEY) => {
      const leaving = new AbortController();
      const { status } = await stage.fetch('GET', '/operations/stream', { apiKey, signal: leaving.signal });
      return { status, leave: () => leaving.abort() };
    };
    const [first, second] = [await open(), await open()];
    const refused = await stage.ask('GET', '/operations/stream');
    assert.deepEqual([refused.status, refused.body.code], [429, 'RATE_LIMITED']);
    assert.deepEqual(
      ['ratelimit-limit', 'ratelimit-remaining', 'retry-after'].map((name) => refused.headers.get(name)),
      ['2', '0', '10'],
    );
    const other = await open(OTHER_API_KEY);
    assert.deepEqual([first.status, second.status, other.status], [200, 200, 200]);
    const ended = once(stage.core.watches[0] as EventEmitter, 'cancelled');
    first.leave();
    await ended;
    const third = await open();
    assert.equal(third.status, 200);
    assert.equal((await stage.ask('GET', '/operations/stream')).status, 429);
    for (const { leave } of [second, third, other]) leave();
  });

  it('does not count what core refuses', async () => {
    stage.core.onWatch = (call) => call.emit('error', refusal(status.OUT_OF_RANGE, { reason: 'STREAM_TOKEN_TOO_OLD' }));
    const headers = { 'last-event-id': 'old' };
    for (let i = 0; i < 3; i++) {
      assert.equal((await stage.ask('GET', '/operations/stream', { headers, apiKey: OTHER_API_KEY })).status, 410);
    }
  });
});

/** Reads the head of an answer and nothing more, apart from what the socket buffers accept. */
async function paused(origin: string, apiKey: string): Promise<IncomingMessage> {
  const asking = request(`${origin}/operations/stream`, { headers: { authorization: `Bearer ${apiKey}` } }).end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  response.pause();
  response.on('error', () => response.destroy());
  return response;
}

async function next(events: AsyncIterator<Event>): Promise<Event> {
  const { value, done } = await events.next();
  assert.ok(!done, 'the stream continues');
  return value;
}

async function nextWithData(events: AsyncIterator<Event>): Promise<Event> {
  for (;;) {
    const event = await next(events);
    if (event.data !== undefined) return event;
  }
}

async function drained(events: AsyncIterable<Event>): Promise<void> {
  for await (const event of events) assert.equal(event.data, undefined);
}
