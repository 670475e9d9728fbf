/** Answers of endpoints, byte by byte from a raw socket. */
import assert from 'node:assert/strict';
import { type EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { parseNetworks } from '../../../../services/core/egress/destination.ts';
import { openSender, type Sender } from '../../../../services/core/egress/http-sender.ts';
import { openTcpServer } from '../../../tcp-server.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('openSender()', () => {
  const allowed = parseNetworks('127.0.0.0/8');
  const rules = { webhook: { allowed }, internal: { allowed } };

  /**
   * Sends `times` notifications to an endpoint with the given behaviour; returns the results, and how many bytes it
   * could write.
   */
  const send = async (answer: (socket: Socket, number: number) => void, times = 1) => {
    const endpoint = createServer();
    const sender: Sender = openSender(rules, 3_000);
    const sockets: Socket[] = [];
    let number = 0;
    endpoint.on('connection', (socket: Socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (request: Buffer) => request.includes('{"n"') && answer(socket, ++number));
    });
    await once(endpoint.listen(0, '127.0.0.1'), 'listening');
    const { port } = endpoint.address() as AddressInfo;
    const message = { url: new URL(`http://127.0.0.1:${port}/x`), headers: {}, body: Buffer.from('{"n":1}') };
    const answers: { httpStatus?: number | undefined; failure?: string | undefined; head: string }[] = [];
    try {
      for (let index = 0; index < times; index++) {
        const { httpStatus, failure, head } = await sender.send('webhook', message);
        answers.push({ httpStatus, failure, head: head.toString() });
      }
    } finally {
      for (const socket of sockets) socket.destroy();
      await sender.close();
      endpoint.close();
    }
    const bytes = sockets.reduce((sum, socket) => sum + socket.bytesWritten, 0);
    return { answers, connections: sockets.length, bytes };
  };

  /** Writes as fast as the client reads, until the connection is closed. */
  const pour = (socket: Socket, text: string) => {
    const block = Buffer.from(text.repeat(Math.ceil(4_096 / text.length)));
    const next = () => {
      while (!socket.destroyed && socket.write(block));
      if (!socket.destroyed) (socket as EventEmitter).once('drain', next);
    };
    next();
  };

  it('says in words that an https address is served in clear', async () => {
    await using endpoint = await openTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const sender = openSender(rules, 3_000);
    const url = new URL(`https://127.0.0.1:${endpoint.port}/x`);
    const { failure, fault } = await sender.send('webhook', { url, headers: {}, body: Buffer.from('{}') });
    await sender.close();
    assert.deepEqual([failure, fault], ['the endpoint does not speak TLS: is it http that listens there?', 'TLS']);
  });

  it('asks for the certificate of a name without its trailing dot (RFC 6066, section 3)', async () => {
    const hello = Promise.withResolvers<Buffer>();
    const endpoint = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .once('data', (bytes) => {
          hello.resolve(bytes);
          socket.destroy();
        }),
    );
    await once(endpoint.listen(0, '127.0.0.1'), 'listening');
    const named = { allowed, resolve: async () => ['127.0.0.1'] };
    const sender = openSender({ webhook: named, internal: named }, 3_000);
    const { port } = endpoint.address() as AddressInfo;
    const url = new URL(`https://merchant.test.:${port}/x`);
    await sender.send('webhook', { url, headers: {}, body: Buffer.from('{}') });
    await sender.close();
    endpoint.close();
    const [name] = /merchant\.test\.?/.exec((await hello.promise).toString('latin1')) ?? [];
    assert.equal(name, 'merchant.test');
  });

  it('connects over https for a second notification while the first connection is silent', async () => {
    let connections = 0;
    await using endpoint = await openTcpServer(() => {
      connections++;
    });
    const sender = openSender(rules, 1_000);
    const message = { url: new URL(`https://127.0.0.1:${endpoint.port}/x`), headers: {}, body: Buffer.from('{}') };
    await Promise.all([sender.send('webhook', message), sender.send('webhook', message)]);
    await sender.close();
    assert.equal(connections, 2);
  });

  const fine = { httpStatus: 200, failure: undefined, head: 'ok' };
  const heads: Record<string, string> = {
    'nothing before it': '',
    'an unasked 100 Continue before it': CONTINUE,
    'several informational heads before it': `${CONTINUE + EARLY}HTTP/1.1 102 Processing\r\n\r\n${EARLY}`,
    'HTTP/1.0’s 100 before it': 'HTTP/1.0 100 Continue\r\n\r\n',
  };
  for (const [name, before] of Object.entries(heads)) {
    it(`accepts a success with ${name}, on a kept connection, at once and byte by byte`, async () => {
      const whole = await send((socket) => socket.write(before + OK), 6);
      assert.deepEqual(whole.answers, Array(6).fill(fine));
      assert(whole.connections < 6);
      const byByte = await send((socket) => {
        socket.setNoDelay(true);
        const bytes = [...(before + OK)];
        const next = () => bytes.length > 0 && socket.write(bytes.shift() ?? '', () => setImmediate(next));
        next();
      });
      assert.deepEqual(byByte.answers, [fine]);
    });
  }

  const odd: Record<string, [answer: string, status: number]> = {
    'a length beside chunks': [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      200,
    ],
    'a length twice': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok', 200],
    'two lengths, and the end of the connection': [
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
      200,
    ],
    'a line that is no header': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nno header\r\nX Y: z\r\n\r\nok', 200],
    'a control character in a header': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: a\u0001b\r\n\r\nok', 200],
    'a reason phrase with control characters': ['HTTP/1.1 204 \u0001\u0002\r\n\r\n', 204],
    'line feeds alone': ['HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 200],
    'a chunk that is none': [`${CHUNKED}2\r\nok\r\nnonsense`, 200],
    'a body that is cut off': ['HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\nok', 201],
  };
  for (const [name, [answer, status]] of Object.entries(odd)) {
    it(`takes a 2xx for a success whatever follows its head: ${name}`, async () => {
      const { answers } = await send((socket) => socket.end(answer, 'latin1'));
      assert.deepEqual([answers[0]?.httpStatus, answers[0]?.failure], [status, undefined]);
      const refused = await send((socket) => socket.end(answer.replace(/ 20\d /, ' 500 '), 'latin1'));
      assert.equal(refused.answers[0]?.httpStatus, 500);
    });
  }

  it('takes a 2xx for a success when its body does not end in time', async () => {
    const { answers } = await send((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok'));
    assert.deepEqual(answers, [fine]);
    const refused = await send((socket) => socket.write('HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nok'));
    assert.match(refused.answers[0]?.failure ?? '', /no complete answer/);
  });

  it('does not wait for the end of a head that is none', async () => {
    const { answers } = await send((socket) => socket.write('SSH-2.0-nonsense\r\n'));
    assert.doesNotMatch(answers[0]?.failure ?? 'no complete answer', /no complete answer/);
  });

  const endless: Record<string, [beginning: string, again: string, failure: RegExp]> = {
    'informational heads': ['', EARLY, /too many informational heads/],
    '100 Continue': ['', CONTINUE, /too many informational heads/],
    'one informational head': ['HTTP/1.1 103 Early Hints\r\n', 'Link: </a>\r\n', /informational head is too long/],
    // A success once its head was read, and not read on.
    'chunk extensions': [`${CHUNKED}1`, ';extension', /^$/],
    'chunks of one byte with extensions': [CHUNKED, `1;${'e'.repeat(4_000)}\r\na\r\n`, /^$/],
    headers: ['HTTP/1.1 200 OK\r\n', 'X-More: more\r\n', /./],
    'one header': ['HTTP/1.1 200 OK\r\nX-Long: ', 'more', /./],
    trailers: [`${CHUNKED}0\r\n`, 'X-More: more\r\n', /^$/],
    'status line': ['HTTP/1.1 200 ', 'OK', /./],
    'blank lines': ['', '\r\n', /./],
    nonsense: ['', 'SSH-2.0-nonsense', /./],
  };
  for (const [name, [beginning, again, expected]] of Object.entries(endless)) {
    it(`aborts an endless answer: ${name}`, async () => {
      const { answers, bytes } = await send((socket) => {
        socket.write(beginning);
        pour(socket, again);
      });
      assert.match(answers[0]?.failure ?? '', expected);
      // Includes what the system's buffers accepted.
      assert(bytes < 16 * 1024 * 1024, `${bytes} bytes`);
    });
  }

  it('refuses a protocol upgrade that it did not request, and an answer that trickles', async () => {
    const switched = await send((socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'));
    assert.equal(switched.answers[0]?.httpStatus, undefined);
    assert.match(switched.answers[0]?.failure ?? '', /upgrade/);
    const dripping = await send((socket) => {
      const timer = setInterval(() => socket.write(EARLY.charAt(0)), 100);
      socket.once('close', () => clearInterval(timer));
    });
    assert.match(dripping.answers[0]?.failure ?? '', /./);
  });

  it('accepts a success with a long body without reading all of it, and one with trailers', async () => {
    const long = await send((socket) => {
      socket.write(CHUNKED);
      pour(socket, `1000\r\n${'a'.repeat(4_096)}\r\n`);
    });
    assert.deepEqual([long.answers[0]?.httpStatus, long.answers[0]?.failure], [200, undefined]);
    const trailing = await send((socket) => socket.write(`${CHUNKED}2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n`), 6);
    assert.deepEqual(trailing.answers, Array(6).fill(fine));
    assert(trailing.connections < 6);
  });
});
