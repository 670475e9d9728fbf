import { Agent, type Dispatcher } from 'undici';
import type { EndpointKind } from '../storage/delivery.ts';
import { type ConnectRules, guardedConnector } from './connect.ts';

/** What an endpoint answered, or why there was no answer. */
export interface Answer {
  readonly httpStatus?: number | undefined;
  readonly retryAfter?: string | undefined;
  /** Why there was no success: no answer, or an answer that did not end in time. */
  readonly failure?: string | undefined;
  /** The first bytes of the response body, at most 1 024. */
  readonly head: Buffer;
}

export interface Message {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Sends notifications over pooled connections, one pool for each kind of endpoint, because each has rules of its own. */
export interface Sender {
  /** Sends once. Never rejects: whatever goes wrong is an answer. */
  send(kind: EndpointKind, message: Message): Promise<Answer>;
  /** Breaks off what is under way and closes all connections. */
  close(): Promise<void>;
}

/** Times of an attempt; the defaults are the product's. */
export interface SenderOptions {
  readonly rules: Readonly<Record<EndpointKind, ConnectRules>>;
  readonly timeoutMs?: number;
}

export function openSender({ rules, timeoutMs = ATTEMPT_TIMEOUT_MS }: SenderOptions): Sender {
  const agents: Record<EndpointKind, Agent> = {
    webhook: openAgent(rules.webhook),
    internal: openAgent(rules.internal),
  };
  return {
    send: (kind, message) =>
      new Promise((resolve) => {
        const exchange = new Exchange(timeoutMs, resolve);
        const { origin, pathname: path } = message.url;
        agents[kind].dispatch({ origin, path, method: 'POST', headers: message.headers, body: message.body }, exchange);
      }),
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
    },
  };
}

/** Redirects are not followed: undici's dispatchers do so only when told to. */
function openAgent(rules: ConnectRules): Agent {
  return new Agent({
    connect: guardedConnector(rules),
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    maxHeaderSize: 16_384,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** One request and its response, under one clock that covers waiting, connecting, sending and the whole response body. */
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
    this.#timer = setTimeout(() => this.#end(`no complete answer within ${timeoutMs} ms`), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('the attempt is over'));
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: Record<string, unknown>): void {
    if (statusCode < 200) return;
    this.#httpStatus = statusCode;
    const retryAfter = headers['retry-after'];
    // Sent twice, the first one counts.
    const [wished] = [retryAfter].flat();
    if (typeof wished === 'string') this.#retryAfter = wished;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#length < HEAD_BYTES) this.#chunks.push(Buffer.from(chunk.subarray(0, HEAD_BYTES - this.#length)));
    this.#length += chunk.length;
    if (this.#length > MAX_RESPONSE_BYTES) this.#end();
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end(describeFailure(error));
  }

  /** Ends the exchange once; a connection that still carries something is broken off. */
  #end(failure?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    const answer = { httpStatus: this.#httpStatus, retryAfter: this.#retryAfter, failure };
    this.#resolve({ ...answer, head: Buffer.concat(this.#chunks) });
    if (failure !== undefined || this.#length > MAX_RESPONSE_BYTES)
      this.#controller?.abort(new Error('the attempt is over'));
  }
}

/** Names what went wrong by its class and code; messages of the network may hold addresses, which operators may see. */
function describeFailure(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `${code}: ${error.message}` : error.message;
}

const ATTEMPT_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 8_192;
const HEAD_BYTES = 1_024;
