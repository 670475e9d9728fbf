import { type Gateway, type GatewayOptions, startGateway } from '../../gateway/gateway.ts';
import { GATEWAY_SETTINGS } from '../../gateway/settings.ts';
import type { Log, LogFields } from '../../platform/log.ts';
import { readSettings } from '../../platform/settings.ts';
import { signingSecret } from '../signing-secret.ts';
import { FakeCore, TOKEN } from './fake-core.ts';
import { openPrism, type Prism } from './prism.ts';

export const API_KEY = `hf_${'a'.repeat(43)}`;
export const OTHER_API_KEY = `hf_${'b'.repeat(43)}`;
export const MERCHANTS = [
  { merchantId: 'acme', apiKeys: [API_KEY], secrets: [signingSecret('older'), signingSecret('newer')] },
  { merchantId: 'bolt', apiKeys: [OTHER_API_KEY] },
];

/** The parts of an answer that tests read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body.
  readonly body: any;
  readonly text: string;
}

/** A request of a test; a body that is neither a string nor bytes is sent as JSON. */
export interface Ask {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly apiKey?: string | null;
  readonly signal?: AbortSignal;
}

/** A real gateway on a free port in front of a fake core. */
export class Stage {
  readonly core = new FakeCore();
  readonly lines: { event: string; fields: LogFields }[] = [];
  gateway!: Gateway;
  #prism: Prism | undefined;

  async open(environment: Record<string, string> = {}, options: GatewayOptions = {}): Promise<this> {
    await this.core.start();
    this.core.setMerchants(MERCHANTS);
    const settings = { GATEWAY_TOKEN: TOKEN, CORE_URL: this.core.address, PORT: '0', ...environment };
    this.gateway = await startGateway(readSettings(GATEWAY_SETTINGS, settings), { log: this.log, ...options });
    await this.gateway.ready;
    this.#prism = await openPrism(this.origin);
    return this;
  }

  async close(): Promise<void> {
    await this.#prism?.close();
    await this.gateway.close();
    this.core.stop();
  }

  get origin(): string {
    return this.#prism?.origin ?? `http://127.0.0.1:${this.gateway.port}`;
  }

  /** Sends a request and leaves the body of the answer unread. */
  fetch(method: string, path: string, { body, headers, apiKey = API_KEY, signal }: Ask = {}): Promise<Response> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    return fetch(this.origin + path, {
      method,
      headers: {
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }

  async ask(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const response = await this.fetch(method, path, ask);
    const text = await response.text();
    const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  /** Waits for a log line: it may be written after the answer has arrived. */
  async logged(isIt: (line: { event: string; fields: LogFields }) => boolean): Promise<void> {
    while (!this.lines.some(isIt)) await new Promise(setImmediate);
  }

  readonly log: Log = {
    info: (event, fields = {}) => void this.lines.push({ event, fields }),
    warn: (event, fields = {}) => void this.lines.push({ event, fields }),
    error: (event, fields = {}) => void this.lines.push({ event, fields }),
  };
}

/** Opens a stage for the tests of a suite. Core has received no calls at the start of each test. */
export function useStage(environment: Record<string, string> = {}, options: GatewayOptions = {}): Stage {
  const stage = new Stage();
  before(() => stage.open(environment, options));
  after(() => stage.close());
  beforeEach(() => stage.core.forgetCalls());
  return stage;
}
