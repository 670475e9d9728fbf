/** Ends a try in time, and reads of an answer no more than fits in memory. */
import { clearTimeout, setTimeout } from 'node:timers';

/**
 * Does something with a signal that aborts after `withinMs`, or when `caller` aborts. The timer and the listener end with
 * it. Throws what `act` throws. (Node 24 never frees an AbortSignal.any() of another one: 300 bytes for each call.)
 */
export async function withDeadline<T>(
  withinMs: number,
  caller: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error('aborted'));
  const late = () => controller.abort(new Error(`no answer within ${(withinMs / 1_000).toFixed(1)} s`));
  const timer = setTimeout(late, withinMs);
  caller?.addEventListener('abort', abort);
  if (caller?.aborted) abort();
  try {
    return await act(controller.signal);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', abort);
  }
}

/** Several times as much as a page of 200 items with all the metadata that they may have. */
const LONGEST_ANSWER_BYTES = 32 * 2 ** 20;

/** The text of an answer. Throws Error when it is longer than any of the service's. */
export async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  // To leave the loop cancels the answer.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > LONGEST_ANSWER_BYTES) throw new Error(`longer than ${LONGEST_ANSWER_BYTES / 2 ** 20} MiB`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
