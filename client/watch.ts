import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from './refusal.ts';
import { bodyOf, type Connection, pauseOf, refusalOf, retryAfterOf } from './send.ts';

/** An event of a stream: what it says, and the token to resume after it. */
export interface StreamEvent<T> {
  readonly id: string;
  readonly data: T;
}

export interface WatchOptions {
  /** The `id` of the last event that was handled; absent = from now on. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the stream is open, also again after a break. */
  readonly onOpen?: (() => void) | undefined;
}

/**
 * Follows a stream of Server-Sent Events, and resumes after the last event without missing one. Ends when the signal
 * aborts. Throws HoldfastError when it cannot resume: STREAM_TOKEN_TOO_OLD, or a refusal of the key.
 */
export async function* watch<T>(
  connection: Connection,
  path: string,
  { after, signal, onOpen }: WatchOptions = {},
): AsyncGenerator<StreamEvent<T>, void, undefined> {
  if (!/^[\x21-\x7E]*$/.test(after ?? ''))
    throw new HoldfastError('WRONG_OPTION', 'after must be the id of an event of this stream');
  let last = after;
  for (let failures = 0; !signal?.aborted; failures++) {
    const silence = new AbortController();
    // A watch that is not read any further, although nobody ended it, must not keep its process from ending.
    const timer = setTimeout(() => silence.abort(), SILENT_MS).unref();
    const ended = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]);
    let retryAfterMs: number | undefined;
    try {
      const response = await open(connection, path, last, ended);
      retryAfterMs = retryAfterOf(response.headers);
      if ((await isOpen(response)) && response.body) {
        onOpen?.();
        for await (const { id, data } of eventsOf(response.body, () => timer.refresh())) {
          failures = 0;
          last = id ?? last;
          if (data !== undefined) yield { id: last ?? '', data: JSON.parse(data) as T };
        }
      }
    } catch (error) {
      if (error instanceof HoldfastError || error instanceof SyntaxError) throw error;
      // The connection broke, or was silent: it is opened again.
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
    await delay(pauseOf(failures + 1, { retryAfterMs }), undefined, signal && { signal }).catch(() => undefined);
  }
}

/** A comment comes every 15 seconds or oftener. */
const SILENT_MS = 45_000;

function open({ baseUrl, apiKey, fetch }: Connection, path: string, last: string | undefined, signal: AbortSignal) {
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${apiKey}`,
    ...(last !== undefined && { 'last-event-id': last }),
  };
  return fetch(`${baseUrl}${path}`, { headers, signal, redirect: 'manual' });
}

/**
 * Returns whether the stream is open; false = another try may open it. Throws HoldfastError when another try would be
 * refused, too, and Error when the refusal is cut off.
 */
async function isOpen(response: Response): Promise<boolean> {
  const { status, headers } = response;
  if (status === 200 && /event-stream/.test(headers.get('content-type') ?? '')) return true;
  const text = await response.text();
  if (status === 408 || status === 429 || status >= 500) return false;
  throw refusalOf(response, bodyOf(response, text));
}

/**
 * Reads events (HTML Living Standard, 9.2.6) as far as our streams use them: `id` and `data`. An event without data has
 * an id alone.
 */
async function* eventsOf(body: ReadableStream<Uint8Array>, onData: () => void) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    onData();
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^\w*: ?/, '')]),
      );
      yield { id: fields.get('id'), data: fields.get('data') };
    }
  }
}
