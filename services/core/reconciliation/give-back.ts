import { createHash } from 'node:crypto';
import { stringify, v7 as uuidv7 } from 'uuid';
import { reserveHoldRelease } from '../books/reserve-release.ts';
import { isOk, type NotPerformed } from '../domain/operation.ts';
import { ask } from '../kinds/ask.ts';
import { end } from '../kinds/end.ts';
import { HOLD } from '../kinds/hold.ts';
import type { Asker } from '../kinds/kind.ts';
import { RELEASE } from '../kinds/release.ts';
import { callOverAt } from '../processor/processor.ts';
import { storedFor } from '../processor/processors.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findSentSubmission } from '../storage/operation/find-submission.ts';
import { type Importing, importEntry, importReversalOf, storeHold, Unable } from './import-entry.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/**
 * Gives back at the processor what is unknown here, and books it so: an authorization as a hold that failed and is voided, a capture as one
 * that was refunded and so taken back. Returns what was done. Throws Unable for what cannot be given back; then nothing was changed.
 */
export async function giveBack(entry: UnknownEntry, importing: Importing): Promise<string> {
  if (entry.kind === 'AUTHORIZATION') return giveBackAuthorization(entry, importing.asker);
  if (entry.kind === 'CAPTURE') return giveBackCapture(entry, importing);
  throw new Unable(`a ${entry.kind.toLowerCase()} cannot be given back: import it`);
}

/** How a hold ends that was lost by a restore and is not wanted any more. */
const GIVEN_BACK: NotPerformed = {
  answer: 'NOT_PERFORMED',
  code: 'given_back',
  message: 'The database was restored to an earlier time, and the hold was given back.',
};

async function giveBackAuthorization(entry: UnknownEntry, asker: Asker): Promise<string> {
  const { query } = asker.database;
  if (entry.answer === 'ACCEPTED') throw new Unable('it has not ended yet: import it, or try again later');
  const known = await findSentSubmission(query, entry.requestId, storedFor(asker.processors, entry.processor));
  if (known) return releaseRest(known.requestId, asker);
  if (entry.captured > 0n) throw new Unable('it was captured: give its captures back, too');
  const requestId = await storeHold(entry, asker);
  const hold = await findHold(query, requestId);
  if (!hold) throw new Error(`hold ${requestId} was stored and is not there`);
  await end(asker, HOLD, hold, GIVEN_BACK);
  return sendVoid(requestId, 'LATE', asker);
}

/** A hold that was imported with its captures: what remains of it. */
async function releaseRest(holdRequestId: string, asker: Asker): Promise<string> {
  const hold = await findHold(asker.database.query, holdRequestId);
  return hold && hold.remaining > 0n
    ? sendVoid(holdRequestId, 'RELEASED', asker)
    : `${holdRequestId} (nothing is left)`;
}

async function sendVoid(holdRequestId: string, reason: 'LATE' | 'RELEASED', asker: Asker): Promise<string> {
  const at = asker.clock();
  const releasing = { requestId: uuidv7(), holdRequestId, reason, at, inquireAt: callOverAt(asker.processors, at) };
  const reservation = await reserveHoldRelease(asker.books, releasing);
  if (!reservation.reserved) throw new Unable(`the hold ${holdRequestId} cannot be released: ${reservation.refusal}`);
  const facts = await RELEASE.find(asker.database.query, releasing.requestId);
  if (!facts) throw new Error(`release ${releasing.requestId} was stored and is not there`);
  const asked = await ask(asker, RELEASE, facts);
  if (asked.is === 'ENDED') {
    const { outcome } = asked;
    if (!isOk(outcome)) throw new Unable(`the processor did not void it: ${outcome.code}`);
    return holdRequestId;
  }
  return `${holdRequestId} (the void has no result yet: recovery finds it out)`;
}

/** The same refund is asked for however often this is repeated, because its identifier follows from the capture's. */
async function giveBackCapture(entry: UnknownEntry, importing: Importing): Promise<string> {
  if (entry.answer !== 'APPROVED') throw new Unable('it has not ended yet: import it, or try again later');
  const { asker } = importing;
  const captureRequestId = await importEntry(entry, importing).catch((error) => {
    // A hold that is closed here has no room for the capture: then it is undone, and nothing is booked.
    if (error instanceof Unable) return undefined;
    throw error;
  });
  const outcome = await asker.processors.of(entry).send('refund', {
    requestId: refundOf(entry.requestId),
    captureRequestId: entry.requestId,
    authorizationRequestId: entry.authorizationRequestId ?? '',
    merchantId: entry.merchantId,
    account: entry.account,
    amount: entry.amount - entry.takenBack,
    currency: entry.currency,
  });
  if (outcome.answer === 'UNKNOWN' || outcome.answer === 'ACCEPTED') {
    throw new Unable('the refund has no result yet: reconcile again later');
  }
  if (!isOk(outcome)) throw new Unable(`the processor did not refund it: ${outcome.code}`);
  if (captureRequestId === undefined) return 'nothing is booked: its hold is closed here';
  return importReversalOf(asker, captureRequestId, { takenBack: entry.amount, reference: outcome.reference });
}

/** A UUIDv8 (RFC 9562, section 5.8). */
function refundOf(captureIdentifier: string): string {
  const bytes = createHash('sha256').update(`holdfast/give-back/${captureIdentifier}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}
