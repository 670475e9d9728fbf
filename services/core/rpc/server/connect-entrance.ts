import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createHttp2Server,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { Server, Socket } from 'node:net';
import { answerHalfClosed, closeUnread, HTTP_BOUNDS, type HttpBounds } from '../../../../platform/http-server.ts';
import { boundHttp2Session, HTTP2_BOUNDS, type Http2Bounds } from '../../../../platform/http2-limits.ts';
import { oneAtATime } from '../../../../platform/one-at-a-time.ts';
import { sliceRequests } from '../../../../platform/slice-requests.ts';
import { HANDSHAKE_MS, type ServerTls } from '../../../../platform/tls.ts';

export type Handler = (
  request: Http2ServerRequest | IncomingMessage,
  response: Http2ServerResponse | ServerResponse,
) => void;

/** Time limits for callers. */
export interface EntranceBounds {
  readonly http: HttpBounds;
  readonly http2: Http2Bounds;
  /** For the TLS handshake, or for the first bytes of a connection in clear, which show the version of HTTP. */
  readonly handshakeMs: number;
}

export const ENTRANCE_BOUNDS: EntranceBounds = { http: HTTP_BOUNDS, http2: HTTP2_BOUNDS, handshakeMs: HANDSHAKE_MS };

/** As many streams of a session as calls of a core may be in progress (MAX_CALLS_IN_FLIGHT); Node sets no limit. */
const SETTINGS = { maxConcurrentStreams: 1_024 };

/** A server, and how it stops taking connections and calls. */
export interface Entrance {
  readonly server: Server;
  stop(): void;
}

/** With TLS, the handshake negotiates the version of HTTP. */
export function secureEntrance({ cert, key, clientCa }: ServerTls, handler: Handler, bounds: EntranceBounds): Entrance {
  const mutual = clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const { takeMs: _, ...http1Options } = bounds.http;
  const tls = { cert, key, ...mutual, allowHTTP1: true, handshakeTimeout: bounds.handshakeMs };
  const ofHttp1 = oneAtATime(handler);
  const server = createSecureServer({ ...tls, ...http1Options, settings: SETTINGS }, (request, response) => {
    if (request.httpVersionMajor >= 2) handler(request, response);
    else ofHttp1(request as never, response as never);
  });
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') sliceRequests(socket);
  });
  answerHalfClosed(server);
  // A session of HTTP/2 ends with its client's side: nothing else would end it.
  server.prependListener('secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') socket.allowHalfOpen = true;
  });
  closeUnread(server, 'secureConnection', bounds.http);
  server.on('session', (session) => boundHttp2Session(session, bounds.http2));
  return { server, stop: () => server.close() };
}

/** The first bytes show the version. HTTP/1.1 listens: Node enforces request timeouts only on a listening server. */
export function clearEntrance(handler: Handler, bounds: EntranceBounds): Entrance {
  const { takeMs: _, ...http1Options } = bounds.http;
  const server = createServer(http1Options, oneAtATime(handler));
  answerHalfClosed(server);
  const serveHttp1 = server.listeners('connection');
  server.removeAllListeners('connection');
  closeUnread(server, 'connection', bounds.http);
  const http2 = createHttp2Server({ settings: SETTINGS }, handler);
  http2.on('session', (session) => boundHttp2Session(session, bounds.http2));
  const unrecognized = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    unrecognized.add(socket);
    socket.once('close', () => unrecognized.delete(socket));
    recognize(socket, bounds.handshakeMs, (isHttp2, first) => {
      unrecognized.delete(socket);
      if (isHttp2) {
        socket.unshift(first);
        http2.emit('connection', socket);
        return;
      }
      for (const serve of serveHttp1) serve.call(server, socket);
      sliceRequests(socket);
      socket.push(first);
    });
  });
  const stop = () => {
    server.close();
    http2.close();
    for (const socket of unrecognized) socket.destroy();
  };
  return { server, stop };
}

/** Reads until the bytes match or differ from the beginning of HTTP/2's preface. `recognized` returns them to the socket. */
function recognize(socket: Socket, timeoutMs: number, recognized: (isHttp2: boolean, first: Buffer) => void): void {
  let first = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const onError = () => socket.destroy();
  const onData = (chunk: Buffer) => {
    first = Buffer.concat([first, chunk]);
    const compared = first.subarray(0, PREFACE.length);
    const mayBeHttp2 = PREFACE.subarray(0, compared.length).equals(compared);
    if (mayBeHttp2 && compared.length < PREFACE.length) return;
    clearTimeout(timer);
    socket.off('data', onData);
    socket.off('close', onClose);
    socket.pause();
    recognized(mayBeHttp2, first);
    process.nextTick(() => socket.resume());
  };
  const onClose = () => clearTimeout(timer);
  socket.on('error', onError);
  socket.on('data', onData);
  socket.once('close', onClose);
}

/** The beginning of `PRI * HTTP/2.0`, which no method of HTTP/1.1 shares. */
const PREFACE = Buffer.from('PRI');
