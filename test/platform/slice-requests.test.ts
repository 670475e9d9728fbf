import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createBoundedServer } from '../../platform/http-server.ts';

const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';
const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

describe('sliceRequests()', () => {
  let server: Server;
  /** Serves with `listener`, and counts what Node has parsed. */
  const serve = async (listener: RequestListener) => {
    const seen = { parsed: 0, sockets: new Set<Socket>() };
    server = createBoundedServer(listener);
    server.on('connection', (socket) => seen.sockets.add(socket));
    server.on('request', () => (seen.parsed += 1));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    return { seen, open };
  };
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  for (const [what, request] of Object.entries({ 'without bodies': GET, 'with bodies': POST })) {
    it(`has two requests of a connection parsed, however many it has pipelined ${what}`, async () => {
      const connections = 20;
      const { seen, open } = await serve(() => undefined);
      const clients = Array.from({ length: connections }, open);
      for (const client of clients) client.write(request.repeat(20_000));
      const isRead = () =>
        seen.sockets.size === connections && [...seen.sockets].every((each) => each.bytesRead > 60_000);
      while (!isRead()) await new Promise(setImmediate);
      for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
      assert.equal(seen.parsed, 2 * connections);
      for (const client of clients) client.destroy();
    });
  }

  it('has a body parsed with its head when both have arrived', async () => {
    const { open } = await serve((request, response) =>
      process.nextTick(() => response.setHeader('Connection', 'close').end(String(request.complete))),
    );
    const client = open();
    client.write(POST);
    assert.match(await text(client), /true$/);
  });

  it('has all of them answered in the end', async () => {
    const { open } = await serve((request, response) => response.end(request.url));
    const client = open();
    client.write(GET.repeat(5_000) + LAST);
    const said = await text(client);
    assert.equal(said.match(/HTTP\/1\.1 200/g)?.length, 5_001);
    assert.match(said, /\/last$/);
  });

  it('ends each turn, also while a body of empty lines arrives', async () => {
    const body = '\n\r\n'.repeat(20_000);
    let turns = 0;
    const { open } = await serve(async (request, response) => {
      const isOver = text(request).then((read) => response.end(String(read.length)));
      for (const over = isOver.then(() => true); !(await Promise.race([over, nextTurn()])); ) turns += 1;
    });
    const client = open();
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    assert.match(await text(client), /60000$/);
    assert(turns > 1_000, `${turns} turns`);
  });

  for (const bytes of [1, 2, 3, 7, 30, 31, 64]) {
    it(`reads requests that arrive in parts of ${bytes} bytes as they were sent`, async () => {
      const { open } = await serve(async (request, response) => response.end(`<${await text(request)}>`));
      const client = open().setNoDelay();
      const post = (body: string) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const sent = `${post('a\r\n\r\nb')}${post('')}${post('\r\n\r\nGET')}${LAST}`;
      for (let from = 0; from < sent.length; from += bytes) {
        client.write(sent.slice(from, from + bytes));
        await new Promise(setImmediate);
      }
      assert.deepEqual((await text(client)).match(/<[^>]*>/g), ['<a\r\n\r\nb>', '<>', '<\r\n\r\nGET>', '<>']);
    });
  }

  it('answers what was pipelined before the client closed its side', async () => {
    const { open } = await serve((request, response) => setImmediate(() => response.end(request.url)));
    const client = open();
    client.end(GET.repeat(1_000));
    assert.equal((await text(client)).match(/HTTP\/1\.1 200/g)?.length, 1_000);
  });
});

const nextTurn = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)));
