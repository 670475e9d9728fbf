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

/** Options of a call. */
export interface CallOptions {
  /** Time limit of the call with all its tries, milliseconds; default 60 000. */
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
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), LONGEST_TIMER_MS));
  const ended = AbortSignal.any([timeout, ...(signal ? [signal] : [])]);
  let requestId: string | undefined;
  let unansweredMs: number | undefined;
  for (let count = 1; ; count++) {
    const heard = await once(connection, call, count, ended);
    const { meaning, error = notKnownYet(heard.status) } = heard;
    requestId = requestIdOf(heard) ?? requestId;
    if (meaning === 'UNKNOWN') unansweredMs = performance.now();
    // A write without an answer may still be stored for a while; until then a refusal of a later try says nothing about
    // it.
    const isPending = unansweredMs !== undefined && performance.now() - unansweredMs <= STORED_WITHIN_MS;
    const isSettled = call.repeatable !== 'KEYED' || !isPending;
    if (meaning === 'DONE') return { isKnown: true, body: heard.body, replayed: heard.replayed === true };
    if (meaning === 'REFUSED' && (isSettled || error.requestId !== undefined)) throw error;
    if (meaning === 'UNKNOWN' && call.repeatable === 'ONCE') throw error;
    const pauseMs = pauseOf(count, heard);
    if (performance.now() + pauseMs < endMs) await delay(pauseMs, undefined, { signal: ended }).catch(() => undefined);
    if (!ended.aborted && performance.now() + pauseMs < endMs) continue;
    if (call.repeatable === 'KEYED' && unansweredMs !== undefined) return { isKnown: false, requestId };
    throw error;
  }
}

/** Core stores nothing of a call later than this (docs/product.md, "What an answer promises"). */
const STORED_WITHIN_MS = 30_000;
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The service answers sooner, by 202 if need be. */
const ANSWER_WITHIN_MS = 40_000;

interface Heard {
  /** 0 = no answer, or one that is not the service's. */
  readonly status: number;
  /** DONE, REFUSED: final. AGAIN: nothing was done. UNKNOWN: it may have been done, or will be. */
  readonly meaning: 'DONE' | 'REFUSED' | 'AGAIN' | 'UNKNOWN';
  readonly body?: unknown;
  /** The refusal, or why there is no answer. */
  readonly error?: HoldfastError;
  readonly replayed?: boolean;
  readonly retryAfterMs?: number | undefined;
}

function requestIdOf({ error, body }: Heard): string | undefined {
  return error?.requestId ?? (body as { requestId?: string } | undefined)?.requestId;
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
    code: heard.error?.code,
    requestId: requestIdOf(heard),
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
    return read(response, await response.text(), call.repeatable);
  } catch (error) {
    const why = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message;
    const message = `no answer from ${baseUrl} (${why}): check baseUrl, the network, or repeat the call`;
    const meaning = NOT_SENT.has(why) ? 'AGAIN' : 'UNKNOWN';
    return { status: 0, meaning, error: new HoldfastError('NO_ANSWER', message, 0, {}, error) };
  }
}

/** No connection was opened: system errors, undici's, and those of certificates (Node's documentation of tls). */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function read(response: Response, text: string, repeatable: Call['repeatable']): Heard {
  const { status, headers } = response;
  const replayed = headers.get('idempotency-replayed') === 'true';
  const retryAfterMs = retryAfterOf(headers);
  const body = status === 204 ? undefined : bodyOf(response, text);
  if (status === 204 || (status < 300 && isAnswer(body, repeatable))) {
    // Without an operation there is no outcome to wait for.
    const meaning = status === 202 && repeatable === 'KEYED' ? 'UNKNOWN' : 'DONE';
    return { status, meaning, body, replayed, retryAfterMs };
  }
  const error = refusalOf(response, body);
  if (error.code !== 'NOT_HOLDFAST')
    return { status, meaning: meaningOf(error, repeatable), error, replayed, retryAfterMs };
  // Also an HTTP server or a proxy answers 408 and 429, when it has not handed the request on.
  const meaning = status >= 500 || status === 408 || status === 429 ? 'UNKNOWN' : 'REFUSED';
  return { status: 0, meaning, error, retryAfterMs };
}

/** Returns whether it may be the service's: an object, which names the operation when the call makes one. */
function isAnswer(body: unknown, repeatable: Call['repeatable']): boolean {
  if (typeof body !== 'object' || Array.isArray(body)) return false;
  return repeatable !== 'KEYED' || typeof (body as { requestId?: unknown }).requestId === 'string';
}

/** The JSON of an answer; undefined when it has another type. Throws Error when it is cut off. */
export function bodyOf({ headers }: Response, text: string): unknown {
  if (!/json/.test(headers.get('content-type') ?? '')) return undefined;
  const body = parsed(text);
  if (body === undefined) throw new Error('the answer is cut off');
  return body;
}

/** The refusal that an answer carries; NOT_HOLDFAST when it is something else's, such as a proxy's own error in JSON. */
export function refusalOf({ status, headers, url }: Response, body: unknown): HoldfastError {
  const problem = (body ?? {}) as HoldfastError['problem'];
  if (typeof problem.code === 'string' && problem.type === `urn:holdfast:problem:${problem.code}`)
    return new HoldfastError(problem.code, messageOf(problem, problem.code), status, problem);
  const type = headers.get('content-type') ?? 'nothing';
  const what = `${url} answered ${status} with ${type}, which is not Holdfast's`;
  return new HoldfastError('NOT_HOLDFAST', `${what}: check baseUrl, and what stands before it`, status);
}

/** A refusal in one line: its `detail` and each field at fault, without values. */
function messageOf({ detail, title, errors }: HoldfastError['problem'], code: string): string {
  const faults = Array.isArray(errors) ? errors.map((fault) => `${fault?.field} ${fault?.message}`) : [];
  return [detail ?? title ?? code, faults.join('; ')].join(' ').trim();
}

function meaningOf({ code, status }: HoldfastError, repeatable: Call['repeatable']): Heard['meaning'] {
  if (code === 'IDEMPOTENCY_IN_FLIGHT' || code === 'OUTCOME_UNKNOWN' || status === 500) return 'UNKNOWN';
  // A change of a webhook may have been made when an older server answers 503.
  if (status === 503 && repeatable === 'ONCE') return 'UNKNOWN';
  return status === 408 || status === 429 || status === 503 ? 'AGAIN' : 'REFUSED';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Seconds until the next try, from an answer's headers; undefined when that is no number. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : undefined;
}

/** As the answer says, else growing. */
export function pauseOf(count: number, { retryAfterMs }: Pick<Heard, 'retryAfterMs'>): number {
  return retryAfterMs === undefined ? growingPause(count - 1) : retryAfterMs + Math.random() * 250;
}

/** Grows from 0.25 to 8 s with each failure, spread so that many clients do not come back at once. */
function growingPause(failures: number): number {
  return Math.min(250 * 2 ** failures, 8_000) * (0.75 + Math.random() / 2);
}

function notKnownYet(status: number): HoldfastError {
  return new HoldfastError('NO_ANSWER', `the outcome is not known yet (${status})`, status);
}
