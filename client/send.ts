/**
 * Sends one call, again where the answer says that this is right (docs/product.md, "What an answer promises"). A write
 * keeps its key over all tries, so it is done at most once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from './refusal.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object | undefined;
  /** KEYED: under its key. ONCE: only after an answer that says that nothing was done. */
  readonly repeatable: 'ALWAYS' | 'KEYED' | 'ONCE';
  /** Only with KEYED. */
  readonly idempotencyKey?: string | undefined;
  /** Headers that sign one try. */
  readonly sign?: ((body: string, idempotencyKey: string) => Record<string, string>) | undefined;
}

/** What the caller may say of a call. */
export interface CallOptions {
  /** How long it may take with all tries, milliseconds; default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Ends it earlier. */
  readonly signal?: AbortSignal | undefined;
}

/** One try, for a log of the caller's own: never a key, a body or a query. */
export interface TryReport {
  readonly method: string;
  readonly path: string;
  readonly try: number;
  /** 0 = no answer. */
  readonly status: number;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly tookMs: number;
}

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: typeof globalThis.fetch;
  readonly onRequest?: ((report: TryReport) => void) | undefined;
}

/** The end of a call: an answer, or nothing is known of it when the time was over. */
export type End =
  | { readonly isKnown: true; readonly body: unknown; readonly replayed: boolean }
  | { readonly isKnown: false; readonly requestId: string | undefined };

/**
 * Sends a call until there is an answer that is final. Throws HoldfastError when it is refused, or when nothing of it
 * was done in time.
 */
export async function send(connection: Connection, call: Call, options: CallOptions = {}): Promise<End> {
  const { timeoutMs = 60_000, signal } = options;
  const endMs = performance.now() + timeoutMs;
  const ended = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  let requestId: string | undefined;
  let unansweredMs: number | undefined;
  for (let count = 1; ; count++) {
    const heard = await once(connection, call, count, ended);
    const meaning = meaningOf(call, heard);
    requestId = heard.problem?.requestId ?? heard.requestId ?? requestId;
    if (meaning === 'UNKNOWN') unansweredMs = performance.now();
    // A try without an answer may still be stored for a while; until then a refusal of a later try says nothing about
    // it.
    const isSettled = unansweredMs === undefined || performance.now() - unansweredMs > STORED_WITHIN_MS;
    if (meaning === 'DONE') return { isKnown: true, body: heard.body, replayed: heard.replayed };
    if (meaning === 'REFUSED' && (isSettled || heard.problem?.requestId !== undefined)) throw errorOf(heard);
    if (meaning === 'UNKNOWN' && call.repeatable === 'ONCE') throw errorOf(heard);
    const pauseMs = pauseOf(count, heard);
    if (performance.now() + pauseMs < endMs) await delay(pauseMs, undefined, { signal: ended }).catch(() => undefined);
    if (!ended.aborted && performance.now() + pauseMs < endMs) continue;
    if (call.repeatable === 'KEYED' && unansweredMs !== undefined) return { isKnown: false, requestId };
    throw errorOf(heard);
  }
}

/** Core stores nothing of a call later than this (docs/product.md, "What an answer promises"). */
const STORED_WITHIN_MS = 30_000;
/** The service answers sooner, by 202 if need be. */
const ANSWER_WITHIN_MS = 40_000;

interface Heard {
  /** 0 = no answer, or one that is not the service's. */
  readonly status: number;
  readonly body?: unknown;
  /** Of a refusal by the service. */
  readonly problem?: HoldfastError['problem'] & { readonly code: string };
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly replayed: boolean;
  /** Why there is no answer. */
  readonly failure?: HoldfastError;
  /** False: no connection could be opened. */
  readonly wasSent?: boolean;
}

/** What also an HTTP server or a proxy answers that has not handed the request on. */
const BUSY: ReadonlySet<number> = new Set([408, 429]);

/** DONE, REFUSED: final. AGAIN: nothing was done. UNKNOWN: it may have been done, or will be. */
function meaningOf(
  { repeatable }: Call,
  { status, problem, failure, wasSent = true }: Heard,
): 'DONE' | 'REFUSED' | 'AGAIN' | 'UNKNOWN' {
  if (failure?.code === 'NOT_HOLDFAST' && failure.status < 500 && !BUSY.has(failure.status)) return 'REFUSED';
  if (status === 0) return wasSent ? 'UNKNOWN' : 'AGAIN';
  // What is no operation has no outcome to wait for.
  if (status === 202) return repeatable === 'KEYED' ? 'UNKNOWN' : 'DONE';
  if (status < 300) return 'DONE';
  if (problem?.code === 'IDEMPOTENCY_IN_FLIGHT') return 'UNKNOWN';
  // A change of a webhook may have been made when it is answered 503.
  if (status === 503 && repeatable === 'ONCE') return 'UNKNOWN';
  if (status === 408 || status === 429 || status === 503) return 'AGAIN';
  return status === 500 ? 'UNKNOWN' : 'REFUSED';
}

async function once(connection: Connection, call: Call, count: number, ended: AbortSignal): Promise<Heard> {
  const { method, path } = call;
  const startedMs = performance.now();
  const heard = await ask(connection, call, ended);
  connection.onRequest?.({
    method,
    path: path.split('?')[0] as string,
    try: count,
    status: heard.status,
    code: heard.problem?.code ?? heard.failure?.code,
    requestId: heard.problem?.requestId ?? heard.requestId,
    tookMs: performance.now() - startedMs,
  });
  return heard;
}

async function ask({ baseUrl, apiKey, fetch }: Connection, call: Call, ended: AbortSignal): Promise<Heard> {
  const body = call.body === undefined ? null : JSON.stringify(call.body);
  const key = call.idempotencyKey;
  const headers: Record<string, string> = {
    accept: 'application/json, application/problem+json',
    authorization: `Bearer ${apiKey}`,
    ...(body !== null && { 'content-type': 'application/json' }),
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(body !== null && call.sign?.(body, key ?? '')),
  };
  try {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    const init = { method: call.method, headers, body, signal, redirect: 'manual' } as const;
    const response = await fetch(`${baseUrl}${call.path}`, init);
    return read(response, await response.text());
  } catch (error) {
    const why = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message;
    const message = `no answer from ${baseUrl} (${why}): check baseUrl, the network, or repeat the call`;
    const wasSent = !NOT_SENT.has(why);
    return { status: 0, replayed: false, wasSent, failure: new HoldfastError('NO_ANSWER', message, 0, {}, error) };
  }
}

/** No connection was opened (system errors, and undici's). */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function read(response: Response, text: string): Heard {
  const { status, headers } = response;
  const retryAfterS = Number(headers.get('retry-after') ?? Number.NaN);
  const replayed = headers.get('idempotency-replayed') === 'true';
  const retryAfterMs = retryAfterS >= 0 ? retryAfterS * 1_000 : undefined;
  if (status === 204) return { status, replayed };
  const body = /json/.test(headers.get('content-type') ?? '') ? parsed(text) : undefined;
  const { code, requestId } = (body ?? {}) as { code?: unknown; requestId?: string };
  if (body !== undefined && status < 300) return { status, body, requestId, replayed, retryAfterMs };
  if (typeof code === 'string')
    return { status, problem: body as NonNullable<Heard['problem']>, replayed, retryAfterMs };
  const what = headers.get('content-type') ?? 'nothing';
  const message =
    `${response.url} answered ${status} with ${what}, which is not Holdfast's: ` +
    'check baseUrl, and what stands before it';
  return { status: 0, replayed, retryAfterMs, failure: new HoldfastError('NOT_HOLDFAST', message, status) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/** As the answer says, else growing. */
function pauseOf(count: number, { retryAfterMs }: Heard): number {
  return retryAfterMs === undefined ? growingPause(count - 1) : retryAfterMs + Math.random() * 250;
}

/** Grows from 0.25 to 8 s with each failure, spread so that many clients do not come back at once. */
export function growingPause(failures: number): number {
  return Math.min(250 * 2 ** failures, 8_000) * (0.75 + Math.random() / 2);
}

function errorOf({ status, problem, failure }: Heard): HoldfastError {
  if (failure) return failure;
  if (!problem) return new HoldfastError('NO_ANSWER', `the outcome is not known yet (${status})`, status);
  return new HoldfastError(problem.code, problem.detail ?? problem.title ?? problem.code, status, problem);
}
