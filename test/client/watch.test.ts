import assert from 'node:assert/strict';
import type { Operation } from '../../client/api.ts';
import { cutRefusal, json, problem, type Reply, serveScript } from './scripted-server.ts';

const event = (id: string) => `id: ${id}\nevent: operation\ndata: {"requestId":"${id}","note":"a: b"}\n\n`;
const stream =
  (...texts: string[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of texts) response.write(text);
    setImmediate(() => response.destroy());
  };

describe('operations.watch()', () => {
  it('resumes by itself after what it has, also after a token that came without data, and skips none', async () => {
    const begin = 'retry: 1000\n\n: heartbeat\nid: t0\n\n';
    // The second one breaks before anything came, the third one in the middle of an event.
    const replies = [
      stream(begin),
      stream(),
      stream(event('a'), event('b'), event('c').slice(0, 25)),
      problem(503, 'UNAVAILABLE', {}, { 'retry-after': '0' }),
      stream(event('c').slice(0, 9), event('c').slice(9), ': heartbeat\nid: t1\n\n'),
      problem(410, 'STREAM_TOKEN_TOO_OLD'),
    ];
    await using server = await serveScript(replies);
    const seen: [string, string][] = [];
    const watching = (async () => {
      for await (const { id, data } of server.holdfast.operations.watch())
        seen.push([id, (data as Operation).requestId]);
    })();
    await assert.rejects(watching, { code: 'STREAM_TOKEN_TOO_OLD' });
    assert.deepEqual(
      seen,
      ['a', 'b', 'c'].map((id) => [id, id]),
    );
    const resumed = server.asked.map(({ headers }) => headers['last-event-id']);
    assert.deepEqual(resumed, [undefined, 't0', 't0', 'b', 'b', 't1']);
  });

  it('begins after a given event, and ends when it is told to', async () => {
    const abort = new AbortController();
    await using server = await serveScript([stream(event('b')), () => abort.abort()]);
    const seen: string[] = [];
    for await (const { id } of server.holdfast.operations.watch({ after: 'a', signal: abort.signal })) seen.push(id);
    assert.deepEqual(seen, ['b']);
    assert.equal(server.asked[0]?.headers['last-event-id'], 'a');
  });

  it('waits ever longer after a refusal whose retry-after is no number of seconds', async () => {
    const later = { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' };
    const busy = problem(503, 'UNAVAILABLE', {}, later);
    await using server = await serveScript([busy, busy, problem(410, 'STREAM_TOKEN_TOO_OLD')]);
    const startedMs = performance.now();
    await assert.rejects(server.holdfast.operations.watch().next(), { code: 'STREAM_TOKEN_TOO_OLD' });
    assert(performance.now() - startedMs > 500);
  });

  it('is refused for a wrong key, and says which field is at fault', async () => {
    const errors = [{ field: 'Last-Event-ID', message: 'must be the id of an event of this stream' }];
    await using server = await serveScript([
      problem(401, 'UNAUTHENTICATED'),
      problem(400, 'INVALID_REQUEST', { errors }),
    ]);
    await assert.rejects(server.holdfast.operations.watch().next(), { code: 'UNAUTHENTICATED' });
    await assert.rejects(server.holdfast.operations.watch().next(), /Last-Event-ID must be the id of an event/);
  });

  it('opens the stream again after a refusal that is cut off', async () => {
    await using server = await serveScript([cutRefusal, problem(410, 'STREAM_TOKEN_TOO_OLD')]);
    await assert.rejects(server.holdfast.operations.watch().next(), { code: 'STREAM_TOKEN_TOO_OLD' });
  });

  it('is told at once that something else answers at the address', async () => {
    for (const reply of [json(200, {}), json(404, { code: 404 }), json(404, { code: 'not_found' })]) {
      await using server = await serveScript([reply]);
      await assert.rejects(server.holdfast.operations.watch().next(), { code: 'NOT_HOLDFAST' });
    }
  });

  it('of relayed notifications asks for one sender, also when it resumes', async () => {
    const senderId = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
    const replies = [stream(event('a')), problem(410, 'STREAM_TOKEN_TOO_OLD')];
    await using server = await serveScript([...replies, problem(410, 'STREAM_TOKEN_TOO_OLD')]);
    const { relayedNotifications } = server.holdfast;
    const watching = relayedNotifications.watch({ senderId });
    assert.equal((await watching.next()).value?.id, 'a');
    await assert.rejects(watching.next(), { code: 'STREAM_TOKEN_TOO_OLD' });
    await assert.rejects(relayedNotifications.watch().next(), { code: 'STREAM_TOKEN_TOO_OLD' });
    const path = '/relayed-notifications/stream';
    assert.deepEqual(
      server.asked.map(({ path: asked, headers }) => [asked, headers['last-event-id']]),
      [
        [`${path}?senderId=${senderId}`, undefined],
        [`${path}?senderId=${senderId}`, 'a'],
        [path, undefined],
      ],
    );
  });
});
