import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createHttp2Server,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { Server, Socket } from 'node:net';
import { closeUnread, HTTP_BOUNDS, type HttpBounds } from '../../../proto/http-door.ts';
import { boundHttp2Session, HTTP2_BOUNDS, type Http2Bounds } from '../../../proto/http2-bounds.ts';
import { type DoorTls, HANDSHAKE_MS } from '../../../proto/tls.ts';

export type Handler = (
  request: Http2ServerRequest | IncomingMessage,
  response: Http2ServerResponse | ServerResponse,
) => void;

/** How long the door waits for those that call it. */
export interface EntranceBounds {
  readonly http: HttpBounds;
  readonly http2: Http2Bounds;
  /** Until a connection has shaken hands (TLS), or has sent the bytes that tell the version of HTTP (in clear). */
  readonly handshakeMs: number;
}

export const ENTRANCE_BOUNDS: EntranceBounds = { http: HTTP_BOUNDS, http2: HTTP2_BOUNDS, handshakeMs: HANDSHAKE_MS };

/** A server, and how it stops taking connections and calls. */
export interface Entrance {
  readonly server: Server;
  stop(): void;
}

/** TLS tells both versions of HTTP apart while shaking hands. */
export function secureEntrance({ cert, key, clientCa }: DoorTls, handler: Handler, bounds: EntranceBounds): Entrance {
  const mutual = clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const { takeMs: _, ...http1Options } = bounds.http;
  const options = { cert, key, ...mutual, allowHTTP1: true, handshakeTimeout: bounds.handshakeMs, ...http1Options };
  const server = createSecureServer(options, handler);
  closeUnread(server, 'secureConnection', bounds.http);
  server.on('session', (session) => boundHttp2Session(session, bounds.http2));
  return { server, stop: () => server.close() };
}

/**
 * In clear, the first bytes tell: HTTP/2 begins with its preface. The server that listens is the one for HTTP/1.1, because Node looks
 * for late requests only on a server that listens.
 */
export function clearEntrance(handler: Handler, bounds: EntranceBounds): Entrance {
  const { takeMs: _, ...http1Options } = bounds.http;
  const server = createServer(http1Options, handler);
  const serveHttp1 = server.listeners('connection');
  server.removeAllListeners('connection');
  closeUnread(server, 'connection', bounds.http);
  const http2 = createHttp2Server(handler);
  http2.on('session', (session) => boundHttp2Session(session, bounds.http2));
  const strangers = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    recognize(socket, bounds.handshakeMs, (isHttp2) => {
      strangers.delete(socket);
      if (isHttp2) http2.emit('connection', socket);
      else for (const serve of serveHttp1) serve.call(server, socket);
    });
  });
  const stop = () => {
    server.close();
    http2.close();
    for (const socket of strangers) socket.destroy();
  };
  return { server, stop };
}

/** Reads until the bytes can no longer be, or already are, the beginning of HTTP/2's preface, and puts them back. */
function recognize(socket: Socket, timeoutMs: number, recognized: (isHttp2: boolean) => void): void {
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
    socket.unshift(first);
    recognized(mayBeHttp2);
    process.nextTick(() => socket.resume());
  };
  const onClose = () => clearTimeout(timer);
  socket.on('error', onError);
  socket.on('data', onData);
  socket.once('close', onClose);
}

/** Enough of `PRI * HTTP/2.0` to tell it from every method of HTTP/1.1. */
const PREFACE = Buffer.from('PRI');
