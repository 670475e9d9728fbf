import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, pauseOf, refusalOf, retryAfterOf } from './answer.ts';
import type { Connection } from './call.ts';
import { textOf } from './deadline.ts';
import { noAnswer } from './no-answer.ts';
import { HoldfastError } from './refusal.ts';

/** An event of a stream: what it says, and the token to resume after it. */
export interface StreamEvent<T> {
  readonly id: string;
  readonly data: T;
  /** The token to get this event again; absent = unknown. */
  readonly previousId?: string | undefined;
}

export interface WatchOptions {
  /** The `id` of the last event that was handled; absent = from now on. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the stream is open, also again after a break. */
  readonly onOpen?: (() => void) | undefined;
  /**
   * Called when the stream cannot be opened, or broke: why, and in how many milliseconds it is opened again. A wrong port,
   * an unknown name and a certificate that is not trusted are repeated, too: they may be mended meanwhile.
   */
  readonly onFailure?: ((error: HoldfastError, againInMs: number) => void) | undefined;
}

/**
 * Follows a stream of Server-Sent Events, and resumes after the last event without missing one. Ends when the signal
 * aborts. Throws HoldfastError when it cannot resume: STREAM_TOKEN_TOO_OLD, or a refusal of the key.
 */
export async function* watch<T>(
  connection: Connection,
  path: string,
  { after, signal, onOpen, onFailure }: WatchOptions = {},
): AsyncGenerator<StreamEvent<T>, void, undefined> {
  if (!/^[\x21-\x7E]*$/.test(after ?? ''))
    throw new HoldfastError('WRONG_OPTION', 'after must be the id of an event of this stream');
  let last = after;
  for (let failures = 0; !signal?.aborted; failures++) {
    const opened = new AbortController();
    const end = () => opened.abort();
    signal?.addEventListener('abort', end);
    // A watch that is not read any further, although nobody ended it, must not keep its process from ending.
    const timer = setTimeout(end, SILENT_MS).unref();
    let retryAfterMs: number | undefined;
    let failure = new HoldfastError('NO_ANSWER', `${connection.baseUrl} ended the stream`);
    try {
      const response = await open(connection, path, last, opened.signal);
      retryAfterMs = retryAfterOf(response.headers);
      const refusal = await refusalToOpen(response);
      if (refusal) failure = refusal;
      if (!refusal && response.body) {
        onOpen?.();
        for await (const { id, data } of eventsOf(response.body, () => timer.refresh())) {
          failures = 0;
          const previousId = last;
          last = id ?? last;
          if (data !== undefined) yield { id: last ?? '', data: JSON.parse(data) as T, previousId };
        }
      }
    } catch (error) {
      if (error instanceof HoldfastError || error instanceof SyntaxError) throw error;
      // The connection broke, or was silent: it is opened again.
      failure = noAnswer(connection.baseUrl, error).error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      end();
    }
    if (signal?.aborted) return;
    const pauseMs = pauseOf(failures + 1, { retryAfterMs });
    onFailure?.(failure, pauseMs);
    await delay(pauseMs, undefined, signal && { signal }).catch(() => undefined);
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
 * Returns why the stream is not open when another try may open it; undefined when it is open. Throws HoldfastError when
 * another try would be refused, too, and Error when the refusal is cut off.
 */
async function refusalToOpen(response: Response): Promise<HoldfastError | undefined> {
  const { status, headers } = response;
  if (status === 200 && /event-stream/.test(headers.get('content-type') ?? '')) return undefined;
  const error = refusalOf(response, bodyOf(response, await textOf(response)));
  if (status === 408 || status === 429 || status >= 500) return error;
  throw error;
}

/** Characters. The service's are a tenth as long. */
const LONGEST_EVENT = 4 * 2 ** 20;

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
    if (rest.length > LONGEST_EVENT) throw new Error('an event that does not end');
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.replace(/^\w*: ?/, '')]),
      );
      yield { id: fields.get('id'), data: fields.get('data') };
    }
  }
}
