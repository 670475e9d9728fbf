/** Reads what a try came to: the service's answer, another's, or none. */
import type { Call } from './call.ts';
import { HoldfastError } from './refusal.ts';

export interface Heard {
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

/** What an answer means for a call. Throws Error when it is cut off. */
export function read(response: Response, text: string, repeatable: Call['repeatable']): Heard {
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
  if (typeof problem.code === 'string' && typesOf(problem.code).includes(problem.type ?? ''))
    return new HoldfastError(problem.code, messageOf(problem, problem.code), status, problem);
  const type = headers.get('content-type') ?? 'nothing';
  const what = `${url} answered ${status} with ${type}, which is not Holdfast's`;
  return new HoldfastError('NOT_HOLDFAST', `${what}: check baseUrl, and what stands before it`, status);
}

/** What the service gives a refusal as its `type`: where the gateway explains it, or a name, as 1.0.0 does. */
function typesOf(code: string): readonly string[] {
  return [`/docs/refusals#${code}`, `urn:holdfast:problem:${code}`];
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

/** How long to wait before the next try, milliseconds: as the answer says, else growing. */
export function pauseOf(count: number, { retryAfterMs }: Pick<Heard, 'retryAfterMs'>): number {
  return retryAfterMs === undefined ? growingPause(count - 1) : retryAfterMs + Math.random() * 250;
}

/** Grows from 0.25 to 8 s with each failure, spread so that many clients do not come back at once. */
function growingPause(failures: number): number {
  return Math.min(250 * 2 ** failures, 8_000) * (0.75 + Math.random() / 2);
}
