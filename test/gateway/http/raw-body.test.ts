import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Problem } from '../../../gateway/http/problem.ts';
import { readBody } from '../../../gateway/http/raw-body.ts';
import type { ProblemCode } from '../../../gateway/http/refusals.ts';
import type { BodyBounds } from '../../../platform/read-body.ts';

describe('readBody()', () => {
  let server: Server;
  let bounds: BodyBounds;
  let read: PromiseWithResolvers<Buffer>;
  /** Whether the body is read only when all of it has arrived. */
  let isLate: boolean;

  beforeEach(async () => {
    isLate = false;
    bounds = { maxBytes: 64, timeoutMs: 5_000 };
    read = Promise.withResolvers();
    read.promise.catch(() => undefined);
    server = createServer(async (request, response) => {
      while (isLate && !request.complete) await new Promise(setImmediate);
      readBody(request, bounds).then(read.resolve, read.reject);
      read.promise.then(
        (body) => response.end(body),
        (error: Problem) => response.writeHead(error.status, error.headers()).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const open = (head: string): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nhost: test\r\n${head}\r\n\r\n`);
    return socket;
  };
  const refused = (code: ProblemCode) =>
    assert.rejects(read.promise, (error) => error instanceof Problem && error.code === code);
  const answerOf = async (socket: Socket): Promise<string> => {
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    return answer;
  };

  it('reads every byte as sent, however it was split', async () => {
    const body = Buffer.from([0, 255, 13, 10, 123, 195, 169]);
    const socket = open('transfer-encoding: chunked\r\nconnection: close');
    for (const byte of body)
      socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
    socket.write('0\r\n\r\n');
    assert.deepEqual(await read.promise, body);
    await answerOf(socket);
  });

  it('accepts exactly the limit, and refuses one byte more', async () => {
    open(`content-length: 64`).resume().write('x'.repeat(64));
    assert.equal((await read.promise).length, 64);
  });

  it('refuses one byte over the limit, and its sender can read the answer', async () => {
    const socket = open('content-length: 65');
    socket.write('x'.repeat(65));
    await refused('PAYLOAD_TOO_LARGE');
    assert.match(await answerOf(socket), /^HTTP\/1.1 413 /);
  });

  it('refuses a chunked body that exceeds the limit', async () => {
    const socket = open('transfer-encoding: chunked');
    socket.write(`41\r\n${'x'.repeat(65)}\r\n0\r\n\r\n`);
    await refused('PAYLOAD_TOO_LARGE');
    assert.match(await answerOf(socket), /^HTTP\/1.1 413 /);
  });

  it('refuses a huge declared length without waiting for it', async () => {
    const socket = open('content-length: 10000000000');
    await refused('PAYLOAD_TOO_LARGE');
    assert.match(await answerOf(socket), /^HTTP\/1.1 413 /);
  });

  it('stops reading an endless body', async () => {
    const socket = open('transfer-encoding: chunked');
    socket.on('error', () => undefined);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    for (let i = 0; i < 40; i++) socket.write(chunk);
    await refused('PAYLOAD_TOO_LARGE');
    socket.destroy();
  });

  it('refuses a body that is not complete in time, though bytes keep trickling', async () => {
    bounds = { maxBytes: 64, timeoutMs: 60 };
    const socket = open('content-length: 64');
    const trickle = setInterval(() => socket.write('x'), 10);
    await refused('REQUEST_TIMEOUT');
    clearInterval(trickle);
    assert.match(await answerOf(socket), /^HTTP\/1.1 408 /);
  });

  it('reads a body that has arrived already, and then the next one of its connection', async () => {
    isLate = true;
    const socket = open('content-length: 64');
    socket.write('x'.repeat(64));
    assert.equal((await read.promise).toString(), 'x'.repeat(64));
    read = Promise.withResolvers();
    socket.write('POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    assert.equal((await read.promise).length, 0);
    assert.equal((await answerOf(socket)).match(/HTTP\/1.1 200 /g)?.length, 2);
  });

  it('refuses a body over the limit that has arrived already', async () => {
    isLate = true;
    const socket = open('content-length: 65');
    socket.write('x'.repeat(65));
    await refused('PAYLOAD_TOO_LARGE');
    assert.match(await answerOf(socket), /^HTTP\/1.1 413 /);
  });

  it('notices a client that disconnects', async () => {
    const socket = open('content-length: 64');
    socket.write('x', () => socket.destroy());
    await refused('INVALID_REQUEST');
  });
});
