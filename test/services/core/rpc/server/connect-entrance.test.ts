import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import {
  clearEntrance,
  ENTRANCE_BOUNDS,
  type Entrance,
  type Handler,
  secureEntrance,
} from '../../../../../services/core/rpc/server/connect-entrance.ts';
import { makeCertificates } from '../../../../certificates.ts';

const GET = 'GET / HTTP/1.1\r\nHost: core\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: core\r\nConnection: close\r\n\r\n';

describe("the Connect server's entrance", () => {
  let begun = 0;
  let unanswered = 0;
  let most = 0;
  const handler: Handler = (_request, response) => {
    begun += 1;
    unanswered += 1;
    most = Math.max(most, unanswered);
    response.once('finish', () => (unanswered -= 1));
    setImmediate(() => response.end('x'));
  };
  let entrance: Entrance | undefined;
  const portOf = async ({ server }: Entrance) => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const pipelines = async (client: Socket) => {
    client.write(GET.repeat(49) + LAST);
    assert.equal((await text(client)).match(/HTTP\/1\.1 200/g)?.length, 50);
    assert.deepEqual([begun, most], [50, 1]);
  };
  beforeEach(() => {
    begun = 0;
    most = 0;
  });
  afterEach(() => entrance?.stop());

  it('begins one HTTP/1.1 request of a connection at a time, in clear', async () => {
    entrance = clearEntrance(handler, ENTRANCE_BOUNDS);
    await pipelines(connect(await portOf(entrance), '127.0.0.1'));
  });

  it('begins one HTTP/1.1 request of a connection at a time, over TLS', async () => {
    const files = await makeCertificates();
    const { cert, key } = files.server;
    entrance = secureEntrance({ cert: readFileSync(cert), key: readFileSync(key) }, handler, ENTRANCE_BOUNDS);
    const port = await portOf(entrance);
    await pipelines(connectTls({ host: '127.0.0.1', port, ca: readFileSync(files.ca), servername: 'localhost' }));
    await files.close();
  });

  describe('answers a client that has closed its side after its request', () => {
    const afterTheEnd: Handler = ({ socket }, response) => {
      socket.once('end', () => setImmediate(() => response.end('x')));
    };
    const asks = async (client: Socket) => {
      client.end(LAST);
      assert.match(await text(client), /^HTTP\/1\.1 200 /);
    };

    it('in clear', async () => {
      entrance = clearEntrance(afterTheEnd, ENTRANCE_BOUNDS);
      await asks(connect({ port: await portOf(entrance), host: '127.0.0.1', allowHalfOpen: true }));
    });

    it('over TLS', async () => {
      const files = await makeCertificates();
      const { cert, key } = files.server;
      entrance = secureEntrance({ cert: readFileSync(cert), key: readFileSync(key) }, afterTheEnd, ENTRANCE_BOUNDS);
      const port = await portOf(entrance);
      const options = { ca: readFileSync(files.ca), servername: 'localhost', allowHalfOpen: true };
      await asks(connectTls({ host: '127.0.0.1', port, ...options }));
      await files.close();
    });
  });

  it('bounds the streams of an HTTP/2 session', async () => {
    entrance = clearEntrance(handler, ENTRANCE_BOUNDS);
    const session = connectHttp2(`http://127.0.0.1:${await portOf(entrance)}`);
    const [settings] = await once(session, 'remoteSettings');
    assert.equal(settings.maxConcurrentStreams, 1_024);
    await new Promise<void>((resolve) => session.close(resolve));
  });
});
