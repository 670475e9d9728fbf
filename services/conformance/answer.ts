/** What an answer says. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import { Answer, type Result } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** An answer as a word: APPROVED, ACCEPTED, or what was refused with its code. */
export function told({ answer, errorCode }: Result): string {
  return errorCode === '' ? (Answer[answer] ?? String(answer)) : `${Answer[answer]} ${errorCode}`;
}

/** Demands what holds for the guarantee of every approval: it is later than the approval, and not after the end. */
export function demandGuarantee({ actedAt, expiresAt, guaranteedUntil }: Result, isDue: boolean): void {
  if (isDue) assert(guaranteedUntil, 'guaranteed_until is absent, and Describe says that it is set');
  if (!guaranteedUntil) return;
  const untilMs = timestampMs(guaranteedUntil);
  if (actedAt) assert(untilMs > timestampMs(actedAt), 'guaranteed_until is before acted_at');
  if (expiresAt) assert(untilMs <= timestampMs(expiresAt), 'guaranteed_until is after expires_at');
}

/** Demands that an answer names no other identifier than was asked about; empty = it names none. */
export function demandOwn(what: string, { requestId }: { readonly requestId: string }, asked: string): void {
  assert(requestId === '' || requestId === asked, `${what} names ${requestId}, and ${asked} was asked`);
}

/** Codes of a void by which core knows that nothing is left to give back. */
export const NOTHING_LEFT = [
  'authorization_expired',
  'authorization_not_found',
  'authorization_not_approved',
  'authorization_voided',
  'authorization_closed',
];

/** The status that may stand for `fenced`. */
export const FENCED = status.FAILED_PRECONDITION;

/** Swallows the status that says that an identifier was fenced. */
export function fencedStatus(error: ServiceError): undefined {
  if (error.code !== FENCED) throw error;
}

/** Whether nothing was done; undefined = a status said so. */
export function isRefusal(result: Result | undefined): boolean {
  return result === undefined || result.answer === Answer.NOT_PERFORMED;
}

/** By then a slow processor has answered, and an adapter that always says so has failed its check. */
const MOST_TRIES = 6;
const PAUSE_MS = 50;

/** Repeats a call while it is UNAVAILABLE, as core does: an adapter's own processor may be slow. Rejects in the end. */
export async function untilAvailable<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if ((error as Partial<ServiceError>).code !== status.UNAVAILABLE || tries === MOST_TRIES) throw error;
      await sleep(PAUSE_MS * tries);
    }
  }
}
