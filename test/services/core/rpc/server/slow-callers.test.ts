/**
 * Clients that stall, trickle or fall silent: each server closes them, whatever the protocol. The timeouts are short
 * here.
 */
import assert from 'node:assert/strict';
import { type EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { createServiceImplSpec } from '@connectrpc/connect';
import { Server } from '@grpc/grpc-js';
import { GRPC_SERVER_OPTIONS } from '../../../../../platform/grpc-server-options.ts';
import { HTTP_BOUNDS } from '../../../../../platform/http-server.ts';
import { boundHttp2Streams } from '../../../../../platform/http2-limits.ts';
import { serverCredentials } from '../../../../../platform/tls.ts';
import { OperationService } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import type { EntranceBounds } from '../../../../../services/core/rpc/server/connect-entrance.ts';
import { type ConnectServer, openConnectServer } from '../../../../../services/core/rpc/server/connect-server.ts';
import { mountServices } from '../../../../../services/core/rpc/server/mount-services.ts';
import { type Certificates, makeCertificates } from '../../../../certificates.ts';

/** Long enough for what callers do in time, on a busy machine, too. */
const MOST_MS = 800;
const BOUNDS: EntranceBounds = {
  http: {
    ...HTTP_BOUNDS,
    headersTimeout: MOST_MS,
    requestTimeout: MOST_MS,
    connectionsCheckingInterval: 20,
    keepAliveTimeout: MOST_MS,
    takeMs: MOST_MS,
  },
  http2: { requestMs: MOST_MS, takeMs: MOST_MS, firstRequestMs: MOST_MS, idleMs: MOST_MS, sweepMs: 20 },
  handshakeMs: MOST_MS,
};
const HEAD =
  'POST /holdfast.v1.OperationService/GetOperation HTTP/1.1\r\nHost: core\r\nContent-Type: application/json\r\n';
const PATH = '/holdfast.v1.OperationService/GetOperation';
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Resolves when the stream is closed, with or without an error. */
const closing = (each: EventEmitter) => new Promise((resolve) => each.once('close', resolve));

describe('slow callers', () => {
  let files: Certificates;
  let clear: ConnectServer;
  let secure: ConnectServer;
  let grpc: { port: number; close(): void };
  let secureGrpc: { port: number; close(): void };
  let unbound: () => void;
  /** A large answer, about 16 MiB: more than the system's buffers hold. */
  const nextPageToken = 'x'.repeat(16 * 1024 * 1024);
  const implementation = { listOperations: () => ({ nextPageToken }), getOperation: () => ({}) };
  const { methods } = createServiceImplSpec<typeof OperationService>(OperationService, implementation);
  const mounted = { service: OperationService, implementation, methods };

  before(async () => {
    files = await makeCertificates();
    const tls = { cert: readFileSync(files.server.cert), key: readFileSync(files.server.key) };
    const parts = { services: [mounted], interceptors: [], host: '127.0.0.1', port: 0 };
    clear = await openConnectServer({ ...parts, tls: undefined }, BOUNDS);
    secure = await openConnectServer({ ...parts, tls }, BOUNDS);
    unbound = boundHttp2Streams(BOUNDS.http2);
    const openGrpc = async (credentials: ReturnType<typeof serverCredentials>) => {
      const server = new Server({ ...GRPC_SERVER_OPTIONS, 'grpc.max_connection_idle_ms': MOST_MS });
      mountServices(server, [mounted], [], new AbortController().signal);
      const port = await new Promise<number>((resolve, reject) =>
        server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
      );
      return { port, close: () => server.forceShutdown() };
    };
    grpc = await openGrpc(serverCredentials(undefined));
    secureGrpc = await openGrpc(serverCredentials(tls, BOUNDS.handshakeMs));
  });
  after(async () => {
    unbound();
    grpc.close();
    secureGrpc.close();
    await Promise.all([clear.close(), secure.close()]);
    await files.close();
  });

  /** Resolves with what the server sent once it has closed the connection. */
  const closedByServer = async (socket: Duplex, stop: () => void = () => undefined): Promise<string> => {
    let said = '';
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    await closing(socket);
    stop();
    return said;
  };
  const drip = (socket: Socket, text: string) => {
    let index = 0;
    const timer = setInterval(() => socket.write(text[index++ % text.length] ?? ''), 20);
    return () => clearInterval(timer);
  };
  const tcp = (port: number) => connect(port, '127.0.0.1');
  const tls = async (port: number, protocol: string) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: readFileSync(files.ca), ALPNProtocols: [protocol] });
    await once(socket, 'secureConnect');
    return socket;
  };

  it('have a bounded number of streams on one session of gRPC', async () => {
    const session = connectHttp2(`http://127.0.0.1:${grpc.port}`);
    const [settings] = await once(session, 'remoteSettings');
    assert.equal(settings.maxConcurrentStreams, 16_384);
    await new Promise<void>((resolve) => session.close(resolve));
  });

  /** What a stalled connection has sent. */
  const stalls: Record<string, string> = {
    nothing: '',
    'one byte of a preface': 'P',
    'half a head': HEAD,
    'half a body': `${HEAD}Content-Length: 100\r\n\r\n{`,
    'half a chunk': `${HEAD}Transfer-Encoding: chunked\r\n\r\n64\r\n{`,
    "HTTP/2's preface alone": PREFACE,
  };
  for (const [name, text] of Object.entries(stalls)) {
    it(`are closed when they have sent ${name}`, async () => {
      const protocol = text === PREFACE ? 'h2' : 'http/1.1';
      const sockets = text === 'P' ? [tcp(clear.port)] : [tcp(clear.port), await tls(secure.port, protocol)];
      for (const socket of sockets) socket.write(text);
      await Promise.all(sockets.map((socket) => closedByServer(socket)));
    });
  }

  it('are closed when they trickle a head, or send no request after an answer', async () => {
    const open = [async () => tcp(clear.port), () => tls(secure.port, 'http/1.1')];
    const dripping = open.map(async (connected) => {
      const socket = await connected();
      await closedByServer(socket, drip(socket, `${HEAD}X-Slow: ${'a'.repeat(1_000)}`));
    });
    const idle = open.map(async (connected) => {
      const socket = await connected();
      socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
      assert.match(await closedByServer(socket), /^HTTP\/1\.1 200 /);
    });
    await Promise.all([...dripping, ...idle]);
  });

  it('are closed when their TLS handshake never ends, silent or trickling', async () => {
    const closed = [secure, secureGrpc].flatMap(({ port }) => {
      const dripping = tcp(port);
      // The beginning of a handshake record of 16 KiB.
      dripping.write(Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00]));
      return [closedByServer(tcp(port)), closedByServer(dripping, drip(dripping, '\u0001'))];
    });
    await Promise.all(closed);
  });

  it('are distinguished from HTTP/1.1 though the preface comes byte by byte', async () => {
    const socket = tcp(clear.port);
    socket.setNoDelay(true);
    for (const byte of 'PRI') {
      socket.write(byte);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    socket.write(`${PREFACE.slice(3)}\0\0\0\u0004\0\0\0\0\0`);
    const said = await closedByServer(socket);
    assert.doesNotMatch(said, /HTTP\/1\.1/);
  });

  const sessions: Record<string, () => ClientHttp2Session> = {
    'Connect, in clear': () => connectHttp2(`http://127.0.0.1:${clear.port}`),
    'Connect, over TLS': () => connectHttp2(`https://127.0.0.1:${secure.port}`, { ca: readFileSync(files.ca) }),
    'gRPC, in clear': () => connectHttp2(`http://127.0.0.1:${grpc.port}`),
    'gRPC, over TLS': () => connectHttp2(`https://127.0.0.1:${secureGrpc.port}`, { ca: readFileSync(files.ca) }),
  };
  for (const [server, open] of Object.entries(sessions)) {
    const type = server.startsWith('gRPC') ? 'application/grpc' : 'application/json';
    it(`lose a session that only pings (${server})`, async () => {
      const session = open();
      session.on('error', () => undefined);
      await once(session, 'connect');
      const timer = setInterval(() => session.destroyed || session.ping(() => undefined), 20);
      await closing(session);
      clearInterval(timer);
    });

    it(`lose a request that never ends, then their session (${server})`, async () => {
      const session = open();
      session.on('error', () => undefined);
      for (const path of [PATH, '/no/such']) {
        const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type });
        stream.on('error', () => undefined);
        stream.on('data', () => undefined);
        stream.write('\0');
        await closing(stream);
      }
      await closing(session);
    });
  }

  it('lose an answer that they do not read, and their session', async () => {
    const session = connectHttp2(`http://127.0.0.1:${clear.port}`, { settings: { initialWindowSize: 0 } });
    session.on('error', () => undefined);
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/json' });
    stream.on('error', () => undefined);
    stream.end('{"noSuchField": 1}');
    await closing(stream);
    assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL);
    await closing(session);
  });

  it('are closed when they do not read an answer over HTTP/1.1', async () => {
    for (const open of [async () => tcp(clear.port), () => tls(secure.port, 'http/1.1')]) {
      const socket = await open();
      socket.write(`${HEAD.replace('GetOperation', 'ListOperations')}Content-Length: 2\r\n\r\n{}`);
      // It reads nothing, so it notices the end when it writes.
      const timer = setInterval(() => socket.write('\r\n'), 50);
      socket.pause();
      socket.on('error', () => undefined);
      await closing(socket);
      clearInterval(timer);
    }
  });
});
