/** Calls REST as a merchant's program does: returns one answer, or that the connection broke. */
import { Agent, request } from 'undici';

/** An answer; status 0 = the connection broke before there was one. */
export interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON; empty when the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each reader checks the fields that it uses.
  readonly body: any;
  readonly startedMs: number;
  readonly tookMs: number;
}

export interface Call {
  readonly apiKey: string;
  readonly path: string;
  /** The body of a POST; without one it is a GET. */
  readonly body?: object | undefined;
  readonly key?: string | undefined;
}

export type Caller = ReturnType<typeof openCaller>;

/**
 * The service promises an answer long before this; a client that gave up earlier would have broken the connection
 * itself.
 */
const PATIENCE_MS = 90_000;

/** Opens a connection for each concurrent call, and reuses them unless `connectionEach` is set. */
export function openCaller(baseUrl: string, options: { readonly connectionEach?: boolean | undefined } = {}) {
  const timeouts = { headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS, connectTimeout: PATIENCE_MS };
  const agent = new Agent({ ...timeouts, connections: null });
  let posts = 0;
  return {
    async send({ apiKey, path, body, key }: Call): Promise<Heard> {
      const startedMs = performance.now();
      const since = () => ({ startedMs, tookMs: performance.now() - startedMs });
      const headers = {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key && { 'idempotency-key': key }),
      };
      if (body) posts++;
      try {
        const response = await request(`${baseUrl}${path}`, {
          dispatcher: agent,
          method: body ? 'POST' : 'GET',
          reset: options.connectionEach ?? false,
          headers,
          body: body ? JSON.stringify(body) : null,
        });
        const text = await response.body.text();
        return { status: response.statusCode, headers: response.headers, body: parsed(text), ...since() };
      } catch (error) {
        const { code = (error as Error).message } = error as { code?: string };
        return { status: 0, headers: {}, body: { code }, ...since() };
      } finally {
        if (body) posts--;
      }
    },
    /** POSTs without an answer so far. */
    inFlight: () => posts,
    close: () => agent.destroy(),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
