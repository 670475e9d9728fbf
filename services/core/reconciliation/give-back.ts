import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { stringify, v7 as uuidv7 } from 'uuid';
import type { HoldRequest } from '../books/submission-request.ts';
import { BY_ANSWER } from '../domain/contradiction.ts';
import { isFinal, isOk, type NotPerformed } from '../domain/outcome.ts';
import { perform } from '../kinds/perform.ts';
import type { Sender } from '../kinds/sender.ts';
import { callOverAt } from '../processor/processor.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findSentAs } from '../storage/submission/find-sent.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import { type Importing, importEntry, isToBePlaced, placing, Unable } from './import-entry.ts';
import type { Particulars } from './merchant-report.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/**
 * Gives back at the processor what is unknown here, and books it so: an authorization as a hold that is released, an
 * open checkout as one that failed, a capture with its refund. Returns its requestId, unless it is not booked. Throws
 * Unable for what cannot be given back; then nothing was changed.
 */
export async function giveBack(entry: UnknownEntry, importing: Importing): Promise<Particulars> {
  if (entry.kind === 'AUTHORIZATION') return giveBackAuthorization(entry, importing);
  if (entry.kind === 'CAPTURE') return giveBackCapture(entry, importing);
  throw new Unable(`this ${entry.kind.toLowerCase()} cannot be given back: import it`);
}

/** How a checkout ends that was lost by a restore. */
const GIVEN_BACK: NotPerformed = {
  answer: 'NOT_PERFORMED',
  code: 'given_back',
  message: 'The database was restored to an earlier time, and the checkout was closed.',
};

async function giveBackAuthorization(entry: UnknownEntry, importing: Importing): Promise<Particulars> {
  const { sender } = importing;
  const { query } = sender.database;
  if (entry.answer === 'ACCEPTED') throw new Unable('it has not ended yet: import it, or try again later');
  if (entry.answer === 'UNSPECIFIED') {
    const request = await placing(entry, importing);
    const known = { outcome: GIVEN_BACK, told: BY_ANSWER, at: sender.clock() };
    const { is } = await perform(sender, request, { known });
    if (is === 'NOT_STORED') throw new Unable('it is known here by now');
    return submit(request.requestId, { kind: 'LATE_VOID' }, sender);
  }
  const known = await findSentAs(query, entry.requestId, entry.processor);
  if (!known && entry.captured > 0n) throw new Unable('it was captured: give its captures back, too');
  const holdRequestId = known?.requestId ?? (await importEntry(entry, importing));
  const hold = await findHold(query, holdRequestId);
  const isLeftThere = entry.captured + entry.voided < entry.amount + entry.incremented;
  return hold && hold.remaining > 0n && isLeftThere
    ? submit(holdRequestId, { kind: 'RELEASE' }, sender)
    : { requestId: holdRequestId, note: 'nothing is left' };
}

/** Stores, sends and settles a void of a hold, or a refund of its capture. Throws Unable when it is refused. */
async function submit(
  holdRequestId: string,
  what: Pick<HoldRequest, 'kind' | 'captureRequestId' | 'amount' | 'processorRequestId'>,
  sender: Sender,
): Promise<Particulars> {
  const { query } = sender.database;
  const at = sender.clock();
  const sentAs = uuidv7();
  const requestId = what.captureRequestId ?? holdRequestId;
  const hold = await findHold(query, holdRequestId);
  if (!hold) throw new Error(`hold ${holdRequestId} was stored and is not there`);
  const inquireAt = callOverAt(sender.processors, at);
  const done = await perform(sender, { ...what, requestId: sentAs, idHash: hold.idHash, at, inquireAt });
  if (done.is === 'NOT_STORED') {
    throw new Unable(`the hold ${holdRequestId} cannot be given back: ${done.stored.outcome}`, requestId);
  }
  if (done.is === 'SETTLED' && !isOk(done.outcome)) {
    throw new Unable(`the processor did not give it back: ${done.outcome.code}`, requestId);
  }
  if (done.is === 'SETTLED') return { requestId };
  const name = what.kind === 'REFUND' ? 'refund' : 'void';
  return { requestId, note: `the ${name} has no result yet: recovery finds it out` };
}

/** The capture is booked, and refunded like any other. */
async function giveBackCapture(entry: UnknownEntry, importing: Importing): Promise<Particulars> {
  if (entry.answer !== 'APPROVED') throw new Unable('it has not ended yet: import it, or try again later');
  const { sender } = importing;
  const captureRequestId = await importEntry(entry, importing).catch(async (error) => {
    // A hold that has failed here, or has no room left, takes no capture: then it is undone, and nothing is booked.
    if (error instanceof Unable && (await isRefused(entry, importing))) return undefined;
    throw error;
  });
  const amount = entry.amount - entry.takenBack - entry.refunded;
  if (captureRequestId === undefined) return undo(entry, amount, sender);
  if (amount === 0n) return { requestId: captureRequestId, note: 'nothing is left' };
  const capture = await findSubmission(sender.database.query, captureRequestId);
  assert(capture?.holdRequestId, 'what was imported is known here');
  const processorRequestId = refundOf(entry.requestId);
  const refund = { kind: 'REFUND', captureRequestId, amount, processorRequestId } as const;
  return submit(capture.holdRequestId, refund, sender);
}

/** Whether a hold that is here will not take the capture, and nobody else has imported it meanwhile. */
async function isRefused(entry: UnknownEntry, { sender, reads }: Importing): Promise<boolean> {
  const hold = await reads.hold(entry);
  if (!hold || isToBePlaced(hold)) return false;
  return !(await findSentAs(sender.database.query, entry.requestId, entry.processor));
}

/** The same refund is asked for however often this is repeated, because its identifier follows from the capture's. */
async function undo(entry: UnknownEntry, amount: bigint, sender: Sender): Promise<Particulars> {
  const outcome = await sender.processors.of(entry).send('refund', {
    requestId: refundOf(entry.requestId),
    captureRequestId: entry.requestId,
    authorizationRequestId: entry.authorizationRequestId ?? '',
    merchantId: entry.merchantId,
    account: entry.account,
    amount,
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
