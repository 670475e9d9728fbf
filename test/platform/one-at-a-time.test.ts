import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { oneAtATime } from '../../platform/one-at-a-time.ts';

const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Of the requests that a server has begun. */
interface Seen {
  begun: number;
  answered: number;
  closed: number;
  /** That were unanswered at once. */
  most: number;
  socket?: Socket;
}

describe('oneAtATime()', () => {
  /** Serves with `listener` while `use` runs. */
  async function through(
    listener: RequestListener,
    use: (client: Socket, seen: Seen) => Promise<void>,
    mostHeld?: number,
  ): Promise<Seen> {
    const seen: Seen = { begun: 0, answered: 0, closed: 0, most: 0 };
    const counting = (request: IncomingMessage, response: ServerResponse) => {
      seen.begun += 1;
      seen.socket = request.socket;
      seen.most = Math.max(seen.most, seen.begun - seen.answered);
      response.once('finish', () => (seen.answered += 1));
      response.once('close', () => (seen.closed += 1));
      listener(request, response);
    };
    const server = createServer(oneAtATime(counting, mostHeld)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    await use(client, seen);
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    return seen;
  }

  it('begins a pipelined request when the one before it is answered, and answers all of them', async () => {
    const count = 10_000;
    const later: RequestListener = (request, response) => setImmediate(() => response.end(request.url));
    const seen = await through(later, async (client) => {
      client.write(GET.repeat(count - 1) + LAST);
      const said = await text(client);
      assert.equal(said.match(/HTTP\/1\.1 200/g)?.length, count);
      assert.match(said, /\/last$/);
    });
    assert.equal(seen.begun, count);
    assert.equal(seen.most, 1);
  });

  it('reads no further while a request waits', async () => {
    const sent = GET.repeat(400_000);
    const begun = Promise.withResolvers<ServerResponse>();
    await through(
      (_request, response) => begun.resolve(response),
      async (client, seen) => {
        client.write(sent);
        await begun.promise;
        // Discarding a body resumes the socket.
        seen.socket?.resume();
        for (let turns = 0; turns < 200; turns++) await new Promise(setImmediate);
        assert((seen.socket?.bytesRead ?? 0) <= 2 * 65_536, `read ${seen.socket?.bytesRead} of ${sent.length} bytes`);
        assert.equal(seen.begun, 1);
      },
    );
  });

  it('begins nothing more when the connection has ended', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const seen = await through(
      (_request, response) => begun.resolve(response),
      async (client, { socket }) => {
        client.write(GET.repeat(2_000));
        const response = await begun.promise;
        const closed = once(socket ?? response, 'close');
        client.resetAndDestroy();
        // A paused socket does not see that; an answer does.
        while (!response.destroyed && !response.closed) {
          response.write('x');
          await new Promise(setImmediate);
        }
        await closed;
        for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
      },
    );
    assert.equal(seen.begun, 1);
    assert.equal(seen.closed, 1);
  });

  it('begins nothing behind an answer that closes the connection', async () => {
    const seen = await through(
      (_request, response) => response.writeHead(200, { connection: 'close' }).end(),
      async (client) => {
        client.write(GET.repeat(3));
        assert.equal((await text(client)).match(/HTTP\/1\.1/g)?.length, 1);
      },
    );
    assert.equal(seen.begun, 1);
  });

  it('reads the bodies of pipelined requests whole', async () => {
    const body = 'x'.repeat(100_000);
    const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const length: RequestListener = async (request, response) => response.end(String((await text(request)).length));
    await through(length, async (client) => {
      client.write(post.repeat(5) + LAST);
      assert.equal((await text(client)).match(/100000/g)?.length, 5);
    });
  });

  it('closes a connection that would hold more than may be held', async () => {
    const seen = await through(
      () => undefined,
      async (client) => {
        client.write(GET.repeat(12));
        await once(client.resume(), 'close');
      },
      10,
    );
    assert.equal(seen.begun, 1);
  });
});
