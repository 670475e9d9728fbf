import { Agent, type Dispatcher } from 'undici';
import type { EndpointPurpose, Fault } from '../storage/delivery/delivery-row.ts';
import { type ConnectRules, guardedConnector } from './guarded-connector.ts';
import { ProxyFailed } from './proxy-tunnel.ts';
import { LookupFailed } from './resolve.ts';

/** An endpoint's answer, or why there was none. */
export interface Answer {
  readonly httpStatus?: number | undefined;
  readonly retryAfter?: string | undefined;
  /**
   * The failure, for operators: no answer, or one without an end in time. Absent with a 2xx: the endpoint has taken the
   * notification once its status line and headers were read, whatever follows.
   */
  readonly failure?: string | undefined;
  /** Present with a failure of the network. */
  readonly fault?: Fault | undefined;
  /** The first bytes of the response body, at most 8 192. */
  readonly head: Buffer;
}

export interface Message {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The names of those whose values nobody may see. */
  readonly secretHeaders?: readonly string[];
  readonly body: Buffer;
}

/** Sends notifications over pooled connections, with a pool for each purpose, because their rules differ. */
export type Sender = ReturnType<typeof openSender>;

/** Opens a sender by the rules of connections; `mostMs` shortens every attempt. */
export function openSender(rules: Readonly<Record<EndpointPurpose, ConnectRules>>, mostMs = Number.POSITIVE_INFINITY) {
  const agents: Record<EndpointPurpose, Agent> = {
    webhook: openAgent(rules.webhook),
    internal: openAgent(rules.internal),
  };
  return {
    /** Sends once, within `timeoutMs`. Never rejects: an error is part of the answer. */
    send: (purpose: EndpointPurpose, message: Message, timeoutMs = ATTEMPT_TIMEOUT_MS) =>
      new Promise<Answer>((resolve) => {
        const exchange = new Exchange(Math.min(timeoutMs, mostMs), resolve);
        const { origin, pathname: path } = message.url;
        agents[purpose].dispatch(
          { origin, path, method: 'POST', headers: message.headers, body: message.body },
          exchange,
        );
      }),
    /** Aborts requests in progress and closes all connections. */
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
    },
  };
}

/** Redirects are not followed: undici's dispatchers do that only with an interceptor. */
function openAgent(rules: ConnectRules): Agent {
  return new Agent({
    connect: guardedConnector(rules),
    // With HTTP/2 possible, undici would let all notifications wait for the first connection to choose.
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: 16_384,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** One request and its response. One timeout covers waiting, connecting, sending and the whole response body. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #httpStatus: number | undefined;
  #retryAfter: string | undefined;
  #chunks: Buffer[] = [];
  #length = 0;
  #ended = false;

  constructor(timeoutMs: number, resolve: (answer: Answer) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#end(`no complete answer within ${timeoutMs} ms`, 'TIMEOUT'), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('the attempt is over'));
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: Record<string, unknown>): void {
    if (statusCode < 200) return;
    this.#httpStatus = statusCode;
    // If it was sent twice, the first one counts.
    const [wished] = [headers['retry-after']].flat();
    if (typeof wished === 'string') this.#retryAfter = wished;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#length < MAX_RESPONSE_BYTES) {
      this.#chunks.push(Buffer.from(chunk.subarray(0, MAX_RESPONSE_BYTES - this.#length)));
    }
    this.#length += chunk.length;
    if (this.#length > MAX_RESPONSE_BYTES) this.#end();
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end(describeFailure(error), this.#controller ? 'PROTOCOL' : faultOfConnecting(error));
  }

  /** Ends the exchange once; aborts a connection that is still receiving. */
  #end(failure?: string, fault?: Fault): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    const head = Buffer.concat(this.#chunks);
    const status = this.#httpStatus;
    const isTaken = status !== undefined && status >= 200 && status < 300;
    const trouble = isTaken ? {} : { failure, fault };
    this.#resolve({ httpStatus: status, retryAfter: this.#retryAfter, ...trouble, head });
    if (failure !== undefined || this.#length > MAX_RESPONSE_BYTES) {
      this.#controller?.abort(new Error('the attempt is over'));
    }
  }
}

function faultOfConnecting(error: Error): Fault {
  if (error instanceof LookupFailed || error instanceof ProxyFailed) return 'LOOKUP';
  const { code = '' } = error as { code?: string };
  return /^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code) ? 'TLS' : 'UNREACHABLE';
}

/** Describes an error by code and message. Messages of the network may contain addresses, which operators may see. */
function describeFailure(error: Error): string {
  const { code } = error as { code?: unknown };
  // OpenSSL's text ends with a place in its source: `…:error:0A00010B:SSL routines:…:wrong version number:../deps/…`.
  const [, reason] = /:error:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):/.exec(error.message) ?? [];
  if (reason === 'wrong version number') return 'the endpoint does not speak TLS: is it http that listens there?';
  if (reason !== undefined) return `TLS: ${reason}`;
  return typeof code === 'string' ? `${code}: ${error.message}` : error.message;
}

const ATTEMPT_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 8_192;
