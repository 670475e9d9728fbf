/** Entries of a processor's books that cannot be booked here are undone at the processor. */

import { createHash } from 'node:crypto';
import { stringify } from 'uuid';
import { drawId } from '../../../platform/draw-id.ts';
import { BY_ANSWER } from '../domain/contradiction.ts';
import { remainedOf } from '../domain/hold-rules.ts';
import { isFinal, isOk, type NotPerformed } from '../domain/outcome.ts';
import { perform } from '../kinds/perform.ts';
import { callOverAt } from '../processor/processor.ts';
import { findSentAs } from '../storage/submission/find-sent.ts';
import { type Importing, isPresent, placing } from './import-entry.ts';
import type { Particulars } from './merchant-report.ts';
import { isToBePlaced, Unable } from './unable.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/**
 * Returns whether an entry is a checkout whose page is open: it is of no use once its hold is lost. One that waits for
 * the authentication of its customer is ACCEPTED, and imported with its page.
 */
export function isOpenCheckout({ kind, answer }: Pick<UnknownEntry, 'kind' | 'answer'>): boolean {
  return kind === 'AUTHORIZATION' && answer === 'UNSPECIFIED';
}

/** Books an open checkout as a hold that has failed, and closes its page. Throws Unable when it is not closed. */
export async function closeCheckout(entry: UnknownEntry, importing: Importing): Promise<Particulars> {
  const { sender } = importing;
  const request = await placing(entry, importing);
  const { requestId, hold } = request;
  const at = sender.clock();
  const placed = await perform(sender, request, { known: { outcome: CLOSED, told: BY_ANSWER, at } });
  if (placed.is === 'NOT_STORED') throw new Unable('it is known here by now');
  const inquireAt = callOverAt(sender.processors, at);
  const close = { kind: 'LATE_VOID', requestId: drawId(), idHash: hold.idHash, at, inquireAt } as const;
  const closed = await perform(sender, close);
  if (closed.is === 'NOT_STORED') throw new Unable(`it cannot be closed: ${closed.stored.outcome}`, requestId);
  return closed.is === 'SETTLED' ? { requestId } : { requestId, note: 'not closed yet: recovery goes on' };
}

/** The outcome of a checkout that was lost by a restore. */
const CLOSED: NotPerformed = {
  answer: 'NOT_PERFORMED',
  code: 'given_back',
  message: 'The database was restored to an earlier time, and the checkout was closed.',
};

/**
 * Refunds a capture at the processor whose hold has no room for it here, because it has failed: nothing is booked. The
 * same refund is asked for however often this is repeated, because its identifier follows from the capture's. Throws
 * Unable for any other entry, and when it is not refunded.
 */
export async function refundAtProcessor(entry: UnknownEntry, { sender, reads }: Importing): Promise<Particulars> {
  if (entry.kind !== 'CAPTURE' || entry.answer !== 'APPROVED') throw new Unable('only a capture is refunded');
  const on = await reads.authorized(entry);
  const mayTakeIt =
    !on || isToBePlaced(on.hold) || (isPresent(on) && entry.amount <= remainedOf(on.hold) + on.hold.inFlight);
  if (mayTakeIt) throw new Unable('its hold may have room for it: import it, and refund it like any other');
  if (await findSentAs(sender.database.query, entry.requestId, entry.processor)) {
    throw new Unable('it is known here by now');
  }
  const outcome = await sender.processors.of(entry).send('refund', {
    requestId: refundOf(entry.requestId),
    captureRequestId: entry.requestId,
    authorizationRequestId: entry.authorizationRequestId ?? '',
    merchantId: entry.merchantId,
    account: entry.account,
    amount: entry.amount - entry.takenBack - entry.refunded,
    currency: entry.currency,
  });
  if (!isFinal(outcome)) throw new Unable('the refund has no result yet: reconcile again later');
  if (!isOk(outcome)) throw new Unable(`the processor did not refund it: ${outcome.code}`);
  return { note: 'nothing is booked: its hold has no room for it here' };
}

/** A UUIDv8 (RFC 9562, section 5.8). */
function refundOf(captureIdentifier: string): string {
  const bytes = createHash('sha256').update(`holdfast/give-back/${captureIdentifier}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}
