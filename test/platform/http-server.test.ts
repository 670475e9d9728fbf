import assert from 'node:assert/strict';
import { type EventEmitter, once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createBoundedServer, HTTP_BOUNDS } from '../../platform/http-server.ts';

/** Bounds of that many milliseconds. */
const boundsOf = (ms: number) => ({
  ...HTTP_BOUNDS,
  headersTimeout: ms,
  requestTimeout: ms,
  connectionsCheckingInterval: 20,
  keepAliveTimeout: ms,
  takeMs: ms,
});
/** For what is not to be closed: time enough on a busy machine, too. */
const LONG_MS = 2_000;
const closing = (each: EventEmitter) => new Promise((resolve) => each.once('close', resolve));

describe('createBoundedServer()', () => {
  const through = async (listener: RequestListener, use: (port: number) => Promise<void>, bounds = boundsOf(150)) => {
    const server = createBoundedServer(listener, bounds);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await use((server.address() as AddressInfo).port);
    await new Promise((resolve) => server.close(resolve));
  };
  const open = (port: number, sent: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(sent);
    return socket;
  };

  for (const sent of [
    '',
    'GET / HT',
    'GET / HTTP/1.1\r\nHost: a\r\n',
    'POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1',
  ]) {
    it(`closes a connection that stalls after ${JSON.stringify(sent)}`, async () => {
      await through(
        (request) => request.resume(),
        (port) => closing(open(port, sent).resume()).then(() => undefined),
      );
    });
  }

  it('answers a client that has closed its side after its request, and then closes', async () => {
    const answer: RequestListener = async (request, response) => {
      const ended = once(request.socket, 'end');
      request.resume();
      await ended;
      response.end('answered');
    };
    await through(
      answer,
      async (port) => {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
        socket.end('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
        assert.match(await text(socket), /^HTTP\/1.1 200 OK[\s\S]*answered/);
      },
      boundsOf(LONG_MS),
    );
  });

  it('closes a client that has closed its side between two requests, or within one', async () => {
    const listener: RequestListener = (request, response) => void request.resume().on('end', () => response.end());
    for (const [sent, answers] of [
      ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', /^HTTP\/1.1 200/],
      ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1', /^HTTP\/1.1 400/],
      ['', /^$/],
    ] as const) {
      await through(
        listener,
        async (port) => {
          const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
          socket.end(sent);
          assert.match(await text(socket), answers);
        },
        boundsOf(LONG_MS),
      );
    }
  });

  it('closes a client that does not read its answer, though it sends a byte now and then', async () => {
    const long = Buffer.alloc(32 * 1024 * 1024);
    const answers: Record<string, RequestListener> = {
      'in one piece': (_request, response) => response.end(long),
      'a stream without end': (_request, response) => {
        response.on('error', () => undefined);
        response.write(long);
      },
    };
    for (const listener of Object.values(answers)) {
      await through(listener, async (port) => {
        const socket = open(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').pause();
        const timer = setInterval(() => socket.write('\r\n'), 20);
        await closing(socket);
        clearInterval(timer);
      });
    }
  });

  it('serves a client that reads slowly all the time, for as long as that takes', async () => {
    const piece = Buffer.alloc(64 * 1024);
    const pieces = 400;
    const long: RequestListener = (_request, response) => {
      response.setHeader('connection', 'close');
      Readable.from(Array.from({ length: pieces }, () => piece)).pipe(response);
    };
    const read = async (port: number) => {
      let bytes = 0;
      const socket = open(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        socket.pause();
        setTimeout(() => socket.resume(), 6);
      });
      const startedMs = performance.now();
      await closing(socket);
      assert(bytes > pieces * piece.length, `cut off after ${bytes} bytes`);
      assert(performance.now() - startedMs > LONG_MS, 'it takes longer than anything may be left unread');
    };
    await through(long, read, boundsOf(LONG_MS));
  });

  for (const head of [
    'POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ]) {
    it(`refuses, and reads nothing behind, ${JSON.stringify(head)}`, async () => {
      let calls = 0;
      const count: RequestListener = (_request, response) => {
        calls++;
        response.end();
      };
      const refused = async (port: number) => {
        let said = '';
        const socket = open(port, `${head}GET / HTTP/1.1\r\nHost: a\r\n\r\n`);
        socket.on('data', (chunk) => (said += String(chunk)));
        await closing(socket);
        assert.match(said, /^HTTP\/1\.1 (400|501) /);
        assert.equal(said.match(/HTTP\/1/g)?.length, 1);
        assert.equal(calls, 0);
      };
      await through(count, refused, HTTP_BOUNDS);
    });
  }

  it('begins the next pipelined request when the one before it is answered', async () => {
    const begun: string[] = [];
    const first = Promise.withResolvers<ServerResponse>();
    const listener: RequestListener = ({ url = '' }, response) => {
      begun.push(url);
      if (url === '/1') first.resolve(response);
      else response.writeHead(200, { connection: 'close' }).end();
    };
    await through(listener, async (port) => {
      const socket = open(port, 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n').resume();
      const response = await first.promise;
      for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
      assert.deepEqual(begun, ['/1']);
      response.end();
      await closing(socket);
      assert.deepEqual(begun, ['/1', '/2']);
    });
  });

  it('allows a slow answer', async () => {
    const slow: RequestListener = (_request, response) => {
      setTimeout(() => response.writeHead(200, { connection: 'close' }).end('done'), LONG_MS + 200);
    };
    const answered = async (port: number) => {
      let said = '';
      const socket = open(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').on('data', (chunk) => (said += String(chunk)));
      await closing(socket);
      assert.match(said, /done/);
    };
    await through(slow, answered, boundsOf(LONG_MS));
  });
});
