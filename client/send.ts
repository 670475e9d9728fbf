/**
 * Sends one call, again where the answer says that this is right (docs/product.md, "What an answer promises"). A write
 * keeps its key over all tries, so it is done at most once. docs/clients.md, "How a client waits", is the same for the
 * client in Python.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Heard, pauseOf, read } from './answer.ts';
import type { Call, CallOptions, Connection } from './call.ts';
import { textOf, withDeadline } from './deadline.ts';
import { noAnswer } from './no-answer.ts';
import { HoldfastError } from './refusal.ts';

/** The end of a call: an answer; or nothing is known of it when the time was over, and why. */
export type End =
  | { readonly isKnown: true; readonly body: unknown; readonly replayed: boolean }
  | { readonly isKnown: false; readonly requestId: string | undefined; readonly error: HoldfastError };

/**
 * Sends a call until there is an answer that is final. Throws HoldfastError when it is refused, or when nothing of it
 * was done in time.
 */
export async function send(connection: Connection, call: Call, options: CallOptions = {}): Promise<End> {
  const { timeoutMs = 60_000, signal } = options;
  if (!(timeoutMs > 0)) throw new HoldfastError('WRONG_OPTION', 'timeoutMs must be a number above 0');
  const endMs = performance.now() + timeoutMs;
  let requestId: string | undefined;
  let unanswered: { readonly atMs: number; readonly error: HoldfastError } | undefined;
  for (let count = 1; ; count++) {
    const heard = await once(connection, call, count, endMs - performance.now(), signal);
    const { meaning, error = notKnownYet(heard.status) } = heard;
    requestId = requestIdOf(heard) ?? requestId;
    if (meaning === 'UNKNOWN') unanswered = { atMs: performance.now(), error };
    // A write without an answer may still be stored for a while; until then a refusal of a later try says nothing about
    // it.
    const isPending = unanswered !== undefined && performance.now() - unanswered.atMs <= STORED_WITHIN_MS;
    const isSettled = call.repeatable !== 'KEYED' || !isPending;
    if (meaning === 'DONE') return { isKnown: true, body: heard.body, replayed: heard.replayed === true };
    if (meaning === 'REFUSED' && (isSettled || error.requestId !== undefined)) throw error;
    if (meaning === 'UNKNOWN' && call.repeatable === 'ONCE') throw error;
    const pauseMs = pauseOf(count, heard);
    const nextMs = performance.now() + pauseMs;
    if (!signal?.aborted && nextMs + SHORTEST_TRY_MS <= endMs) {
      await delay(pauseMs, undefined, signal && { signal }).catch(() => undefined);
      // A timer may be late.
      if (!signal?.aborted && performance.now() < endMs) continue;
    }
    if (call.repeatable === 'KEYED' && unanswered) return { isKnown: false, requestId, error: unanswered.error };
    throw error;
  }
}

/** Core stores nothing of a call later than this (docs/product.md, "What an answer promises"). */
const STORED_WITHIN_MS = 30_000;
/** The service answers sooner, by 202 if need be. */
const ANSWER_WITHIN_MS = 40_000;
/** A shorter try would only make an outcome unknown that is known: nothing was done. */
const SHORTEST_TRY_MS = 500;

function requestIdOf({ error, body }: Heard): string | undefined {
  return error?.requestId ?? (body as { requestId?: string } | undefined)?.requestId;
}

async function once(
  connection: Connection,
  call: Call,
  count: number,
  leftMs: number,
  signal: AbortSignal | undefined,
): Promise<Heard> {
  const { method, path } = call;
  const startedMs = performance.now();
  const heard = await ask(connection, call, Math.min(leftMs, ANSWER_WITHIN_MS), signal);
  connection.onRequest?.({
    method,
    path: path.split('?')[0] as string,
    try: count,
    status: heard.status,
    code: heard.error?.code,
    requestId: requestIdOf(heard),
    tookMs: performance.now() - startedMs,
  });
  return heard;
}

async function ask(
  { baseUrl, apiKey, fetch }: Connection,
  call: Call,
  withinMs: number,
  caller: AbortSignal | undefined,
): Promise<Heard> {
  const body = call.body === undefined ? null : JSON.stringify(call.body);
  const key = call.idempotencyKey;
  const headers: Record<string, string> = {
    accept: 'application/json, application/problem+json',
    authorization: `Bearer ${apiKey}`,
    ...(body !== null && { 'content-type': 'application/json' }),
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(body !== null && call.sign?.(body, key ?? '')),
  };
  if (caller?.aborted)
    return { status: 0, meaning: 'AGAIN', error: new HoldfastError('NO_ANSWER', 'aborted: not sent') };
  try {
    return await withDeadline(withinMs, caller, async (signal) => {
      const init = { method: call.method, headers, body, signal, redirect: 'manual' } as const;
      const response = await fetch(`${baseUrl}${call.path}`, init);
      return read(response, await textOf(response), call.repeatable);
    });
  } catch (failure) {
    const { error, isSent } = noAnswer(baseUrl, failure);
    return { status: 0, meaning: isSent ? 'UNKNOWN' : 'AGAIN', error };
  }
}

function notKnownYet(status: number): HoldfastError {
  return new HoldfastError('NO_ANSWER', `the outcome is not known yet (${status})`, status);
}
