import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { forSuite } from '../../suite.ts';
import { CREATE_HOLD, HOLD } from '../rest/examples.ts';
import { API_KEY, Stage } from '../stage.ts';

describe('a client that closes its side after its request', () => {
  const stage = forSuite(() => new Stage().open());

  it('is answered what became of the request', async () => {
    const asked = Promise.withResolvers<object>();
    const called = new Promise<void>((resolve) => {
      stage.core.answers.set('createPreauthorization', () => {
        resolve();
        return asked.promise;
      });
    });
    const body = JSON.stringify(CREATE_HOLD);
    const head = [
      'POST /preauthorization HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${API_KEY}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    const { port } = stage.gateway;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    const answered = text(socket);
    await called;
    asked.resolve({ preauthorization: HOLD, state: 1 });
    const answer = await answered;
    assert.match(answer, /^HTTP\/1.1 20[12] /);
    assert(answer.includes(HOLD.requestId), answer);
  });
});
