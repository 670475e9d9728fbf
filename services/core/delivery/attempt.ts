import { errorFields, type Log } from '../../../platform/log.ts';
import { traceParent } from '../../../platform/tracing.ts';
import type { Clock } from '../clock.ts';
import type { PendingDelivery } from '../storage/delivery/due-deliveries.ts';
import type { AttemptRecord } from '../storage/delivery/record-attempts.ts';
import type { EndpointTerms } from '../storage/endpoint/endpoint-terms.ts';
import { attemptHeaders, NoSecret, notificationUrl } from './attempt-request.ts';
import { isFailing } from './breaker.ts';
import { DestinationRefused } from './destination.ts';
import { nextAttemptAt } from './retry-schedule.ts';
import type { Answer, Message, Sender } from './sender.ts';

/** An attempt that was made. */
export interface Attempt {
  readonly record: AttemptRecord;
  /** What it shows about the endpoint; undefined = nothing, because the fault is the notification's. */
  readonly verdict: 'HEALTHY' | 'FAILING' | 'GONE' | undefined;
}

export interface AttemptParts {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: (() => number) | undefined;
}

/**
 * Makes one attempt of a delivery. A 2xx answer delivers it; otherwise it is due again, or dead after the last attempt. A delivery
 * whose body is not a notification, which is a bug of ours, is dead at once.
 */
export async function makeAttempt(parts: AttemptParts, row: PendingDelivery, terms: EndpointTerms): Promise<Attempt> {
  const startedAt = parts.clock();
  const startedMs = performance.now();
  const answer = await send(parts, row, terms, startedAt);
  const latencyMs = Math.round(performance.now() - startedMs);
  const record = recordOf(row, answer, startedAt, latencyMs, (parts.random ?? Math.random)());
  return { record, verdict: verdictOf(answer) };
}

/** An answer; `fatal` = the notification cannot be made, now or later. */
type Outcome = Answer & { readonly fatal?: boolean };

async function send(parts: AttemptParts, row: PendingDelivery, terms: EndpointTerms, at: Date): Promise<Outcome> {
  try {
    return await parts.sender.send(row.endpointKind, messageOf(row, terms, at));
  } catch (error) {
    const head = Buffer.alloc(0);
    if (error instanceof DestinationRefused || error instanceof NoSecret) return { failure: error.message, head };
    parts.log.error('delivery_error', { deliveryId: row.id, ...errorFields(error) });
    return { failure: `the notification cannot be made (${(error as Error).name})`, head, fatal: true };
  }
}

function messageOf(row: PendingDelivery, terms: EndpointTerms, at: Date): Message {
  const endpointUrl = terms.urls[row.endpointKind];
  if (endpointUrl === null) throw new DestinationRefused('the merchant has no such endpoint');
  const url = notificationUrl(endpointUrl, row);
  const parent = traceParent();
  const headers = { ...attemptHeaders(row, terms.secrets, at), ...(parent !== undefined && { traceparent: parent }) };
  return { url, headers, body: row.body };
}

function recordOf(
  row: PendingDelivery,
  answer: Outcome,
  startedAt: Date,
  latencyMs: number,
  random: number,
): AttemptRecord {
  const { httpStatus, retryAfter } = answer;
  const endedAt = new Date(startedAt.getTime() + latencyMs);
  const number = row.attemptCount + 1;
  const tries = number - row.retryBase;
  const delivered = isDelivered(answer);
  const isLast = delivered || answer.fatal === true;
  const dueAt = isLast ? undefined : nextAttemptAt({ tries, httpStatus, retryAfter, endedAt }, random);
  return {
    deliveryId: row.id,
    number,
    startedAt: startedAt.toISOString(),
    latencyMs,
    httpStatus,
    error: delivered ? undefined : (answer.failure ?? `HTTP ${httpStatus}`).slice(0, MAX_ERROR_LENGTH),
    responseHead: responseHead(answer.head),
    state: delivered ? 'DELIVERED' : dueAt ? 'PENDING' : 'DEAD',
    dueAt: dueAt?.toISOString(),
    endedAt: endedAt.toISOString(),
  };
}

function isDelivered({ httpStatus, failure }: Answer): boolean {
  return failure === undefined && httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300;
}

function verdictOf(answer: Outcome): Attempt['verdict'] {
  if (answer.fatal) return undefined;
  if (isDelivered(answer)) return 'HEALTHY';
  if (answer.httpStatus === 410) return 'GONE';
  return isFailing(answer.failure === undefined ? answer.httpStatus : undefined) ? 'FAILING' : undefined;
}

const MAX_ERROR_LENGTH = 500;

/** The beginning of a response as text to store and show: control characters are replaced, because PostgreSQL rejects NUL. */
function responseHead(head: Buffer): string | undefined {
  if (head.length === 0) return undefined;
  const text = head.toString('utf8');
  return Array.from(text, (character) => (isControl(character) ? '\u{FFFD}' : character)).join('');
}

function isControl(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return (code < 0x20 && character !== '\n' && character !== '\t') || (code >= 0x7f && code < 0xa0);
}
