import { type IncomingMessage, type RequestOptions, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import type { Socket } from 'node:net';

/** Thrown when a proxy made no tunnel for a reason of its own. It shows nothing about the endpoint. */
export class ProxyFailed extends Error {
  constructor(reason: string) {
    super(`the proxy of WEBHOOK_PROXY_URL ${reason}`);
    this.name = 'ProxyFailed';
  }
}

/**
 * Opens a tunnel to a host and port through a forward proxy: CONNECT (RFC 9110, section 9.3.6), with the user and
 * password of its URL. Rejects with ProxyFailed when the proxy does not answer in `timeoutMs`, demands other credentials
 * or refuses; and with an error of the endpoint when the proxy says that it could not reach it (502, 504).
 */
export function openTunnel(proxy: URL, { hostname, port }: Target, timeoutMs: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const authority = `${hostname}:${port}`;
  const request = (proxy.protocol === 'https:' ? requestByHttps : requestByHttp)({
    method: 'CONNECT',
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    path: authority,
    headers: { host: authority, ...credentialsOf(proxy) },
    agent: false,
    maxHeaderSize: 16_384,
    signal: AbortSignal.timeout(timeoutMs),
  } satisfies RequestOptions);
  request.once('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
    if (statusCode >= 200 && statusCode < 300) return resolve(socket);
    socket.destroy();
    reject(refusalOf(statusCode));
  });
  // An answer that is no tunnel, from a server that does not know CONNECT.
  request.once('response', (response) => {
    response.destroy();
    reject(refusalOf(response.statusCode ?? 0));
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    reject(
      new ProxyFailed(
        error.name === 'TimeoutError' || error.name === 'AbortError' ? 'did not answer' : `failed (${error.code})`,
      ),
    );
  });
  request.end();
  return promise;
}

/** The end of a tunnel; an IPv6 address in brackets. */
export interface Target {
  readonly hostname: string;
  readonly port: string;
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function refusalOf(status: number): Error {
  if (status === 502 || status === 504) return new Error(`the proxy could not reach the endpoint (HTTP ${status})`);
  return new ProxyFailed(`refused the connection (HTTP ${status})`);
}
