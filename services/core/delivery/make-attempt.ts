import type { Clock } from '../../../platform/clock.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { traceParent } from '../../../platform/tracing.ts';
import { DestinationRefused } from '../egress/destination.ts';
import type { Answer, Message, Sender } from '../egress/http-sender.ts';
import { purposeOf } from '../storage/delivery/delivery-row.ts';
import type { AttemptRecord } from '../storage/delivery/record-attempts.ts';
import type { PendingDelivery } from '../storage/delivery/take-due.ts';
import type { EndpointKey } from '../storage/endpoint/endpoint-row.ts';
import type { EndpointTerms } from '../storage/endpoint/endpoint-terms.ts';
import { attemptHeaders, NoSecret, notificationUrl } from './attempt-request.ts';
import { isFailing } from './endpoint-breaker.ts';
import { responseHead } from './response-head.ts';
import { nextAttemptAt } from './retry-schedule.ts';

export interface Attempt {
  readonly record: AttemptRecord;
  /** The conclusion about the endpoint; undefined = none, because the fault is elsewhere. */
  readonly verdict: 'HEALTHY' | 'FAILING' | 'REFUSED' | 'GONE' | undefined;
}

/** An attempt that was made, and at which endpoint. */
export interface MadeAttempt extends Attempt {
  readonly delivery: Pick<PendingDelivery, 'requestId' | 'kind' | 'statusInfo' | 'signature'>;
  readonly endpoint: EndpointKey;
  /** The endpoint's address when the attempt began; null = it had none. */
  readonly endpointUrl: string | null;
  /** True when the endpoint had failures before: a success then changes its state. */
  readonly troubled: boolean;
}

export interface AttemptParts {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: (() => number) | undefined;
}

/**
 * Makes one attempt of a delivery. A 2xx answer delivers it; otherwise it is due again, or dead after the last attempt.
 * A delivery whose body is not a notification, which is a bug of ours, is dead at once. Throws when the merchant's
 * secrets cannot be decrypted: then no attempt was made.
 */
export async function makeAttempt(parts: AttemptParts, row: PendingDelivery, terms: EndpointTerms): Promise<Attempt> {
  const startedAt = parts.clock();
  const startedMs = performance.now();
  const prepared = prepare(parts, row, terms, startedAt);
  const message = 'url' in prepared ? prepared : undefined;
  const outcome: Outcome =
    'url' in prepared ? await parts.sender.send(purposeOf(row.endpointId), prepared, terms.timeoutMs) : prepared;
  const latencyMs = Math.round(performance.now() - startedMs);
  const endedAt = new Date(startedAt.getTime() + latencyMs);
  const number = row.attemptCount + 1;
  const tries = number - row.retryBase;
  const { httpStatus, retryAfter } = outcome;
  const delivered = isDelivered(outcome);
  const isLast = delivered || outcome.fatal === true || isTest(row);
  const random = parts.random ?? Math.random;
  const dueAt = isLast ? undefined : nextAttemptAt({ tries, httpStatus, retryAfter, endedAt }, random());
  const record: AttemptRecord = {
    deliveryId: row.id,
    number,
    wasDueAt: row.dueAt.toISOString(),
    startedAt: startedAt.toISOString(),
    latencyMs,
    httpStatus,
    error: delivered ? undefined : (outcome.failure ?? `HTTP ${httpStatus}`).slice(0, MAX_ERROR_LENGTH),
    fault: outcome.fault,
    url: message?.url.href,
    responseHead: message && responseHead(outcome.head, message),
    state: delivered ? 'DELIVERED' : dueAt ? 'PENDING' : 'DEAD',
    dueAt: dueAt?.toISOString(),
    endedAt: endedAt.toISOString(),
  };
  return { record, verdict: verdictOf(outcome) };
}

/** An answer; `fatal` = the notification cannot be made, now or later. */
type Outcome = Answer & { readonly fatal?: boolean };

/** Makes the message; without one, the outcome says why. Throws when the merchant's secrets cannot be decrypted. */
function prepare(parts: AttemptParts, row: PendingDelivery, terms: EndpointTerms, at: Date): Message | Outcome {
  const { url: endpointUrl, isRemoved } = terms;
  const secrets = terms.secrets();
  const own = terms.headers();
  const traceparent = traceParent();
  try {
    if (isRemoved) return { failure: 'the endpoint was removed', head: Buffer.alloc(0), fatal: true };
    if (endpointUrl === null) throw new DestinationRefused('the merchant has no such endpoint');
    const url = notificationUrl(endpointUrl, row);
    const headers = { ...own, ...attemptHeaders(row, secrets, at), ...(traceparent !== undefined && { traceparent }) };
    return { url, headers, secretHeaders: Object.keys(own), body: row.body };
  } catch (error) {
    const head = Buffer.alloc(0);
    if (error instanceof DestinationRefused || error instanceof NoSecret) return { failure: error.message, head };
    parts.log.error('delivery_error', { deliveryId: row.id, ...errorFields(error) });
    return { failure: `the notification cannot be made (${(error as Error).name})`, head, fatal: true };
  }
}

/**
 * A test of ours is attempted once: a merchant must not make us send more to an address than it asks for. What the
 * relay forwards has its sender's signature.
 */
export function isTest({ signature, statusInfo }: Pick<PendingDelivery, 'signature' | 'statusInfo'>): boolean {
  return signature === null && statusInfo === 'test';
}

function isDelivered({ httpStatus, failure }: Answer): boolean {
  return failure === undefined && httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300;
}

function verdictOf(answer: Outcome): Attempt['verdict'] {
  if (answer.fatal || answer.fault === 'LOOKUP') return undefined;
  if (isDelivered(answer)) return 'HEALTHY';
  if (answer.httpStatus === 410) return 'GONE';
  return isFailing(answer.failure === undefined ? answer.httpStatus : undefined) ? 'FAILING' : 'REFUSED';
}

const MAX_ERROR_LENGTH = 500;
