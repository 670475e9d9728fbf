import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { reserveHoldRelease } from '../books/reserve-release.ts';
import { takeBack } from '../books/take-back.ts';
import { amountReversedOf } from '../domain/hold.ts';
import type { SubmissionTable } from '../domain/kinds.ts';
import { end } from '../kinds/end.ts';
import { endHold } from '../kinds/end-hold.ts';
import { newHandle } from '../kinds/hold.ts';
import type { Asker } from '../kinds/kind.ts';
import { KINDS } from '../kinds/kinds.ts';
import { callOverAt, type InquiryAnswer } from '../processor/processor.ts';
import { findCapture } from '../storage/capture/capture.ts';
import { markEnded } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findMerchant } from '../storage/merchant/merchant.ts';
import { findSentSubmission } from '../storage/operation/find-submission.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/** Why an entry cannot be imported or given back, in plain words. */
export class Unable extends Error {}

/** What an import works with besides the entry. */
export interface Importing {
  readonly asker: Asker;
  /** What the processor answered when it was asked about the entry. */
  readonly answer: InquiryAnswer;
  /** Of a capture: nothing is left of its authorization, and no void gave the rest back. */
  readonly isFinal: boolean;
}

/**
 * Stores what the processor did under an identifier that is unknown here, and books it as its answer would have been: with its operation
 * and notification, at the time when the processor acted. What has not ended over there is left to recovery. Returns its requestId.
 * Throws Unable when our books leave no room for it; then nothing is stored.
 */
export async function importEntry(entry: UnknownEntry, importing: Importing): Promise<string> {
  if (entry.captureHere !== null) return importReversal(importing.asker, entry.captureHere, entry.takenBack);
  if (entry.holdHere !== null) return importEnd(importing.asker, entry.holdHere);
  const table = TABLES[entry.kind];
  if (!table) throw new Unable(`core has no operations of the kind ${entry.kind}`);
  const requestId = await STORE[table](entry, importing);
  await endImported(entry, importing, table, requestId);
  if (table === 'capture' && entry.takenBack > 0n) await importReversal(importing.asker, requestId, entry.takenBack);
  return requestId;
}

const TABLES: Readonly<Record<string, SubmissionTable>> = {
  AUTHORIZATION: 'hold',
  CAPTURE: 'capture',
  VOID: 'release',
  CREDIT: 'oct',
};

type Store = (entry: UnknownEntry, importing: Importing) => Promise<string>;

/** How the submissions of each table are stored from the processor's books. */
const STORE: Readonly<Record<SubmissionTable, Store>> = {
  async hold(entry, { asker }) {
    if (entry.answer === 'UNSPECIFIED') throw new Unable('an open checkout cannot be imported: give it back');
    return storeHold(entry, asker);
  },

  async capture(entry, { asker, isFinal }) {
    const hold = await holdOf(entry, asker);
    const names = namesOf(entry);
    const reservation = await asker.books.reserveCapture({
      ...names,
      idHash: hold.idHash,
      merchantId: hold.merchantId,
      amount: entry.amount,
      finalCapture: isFinal,
      imported: true,
      ...timesOf(entry, asker),
    });
    if (!reservation.reserved)
      throw new Unable(`the hold ${hold.requestId} has no room for it: ${reservation.refusal}`);
    return names.requestId;
  },

  async release(entry, { asker }) {
    const hold = await holdOf(entry, asker);
    const isExpiry = hold.expiresAt != null && hold.expiresAt <= entry.actedAt;
    const names = namesOf(entry);
    const reservation = await reserveHoldRelease(asker.books, {
      ...names,
      holdRequestId: hold.requestId,
      reason: isExpiry ? 'EXPIRED' : 'RELEASED',
      imported: true,
      ...timesOf(entry, asker),
    });
    if (!reservation.reserved)
      throw new Unable(`the hold ${hold.requestId} has nothing to give back: ${reservation.refusal}`);
    return names.requestId;
  },

  async oct(entry, { asker }) {
    const names = namesOf(entry);
    const { at, inquireAt } = timesOf(entry, asker);
    const { outcome } = await asker.books.insertOct({
      ...names,
      ...placeOf(entry),
      amount: entry.amount.toString(),
      imported: true,
      createdAt: at.toISOString(),
      inquireAt: inquireAt.toISOString(),
    });
    if (outcome !== 'STORED' && outcome !== 'RESUMED') throw new Unable('it is known here by now');
    return names.requestId;
  },
};

/** Stores the hold of an authorization, as one whose outcome is open. Throws Unable when the merchant does not exist. */
export async function storeHold(entry: UnknownEntry, asker: Asker): Promise<string> {
  const contract = await findMerchant(asker.database, entry.merchantId);
  if (!contract) throw new Unable(`the merchant ${entry.merchantId} does not exist here`);
  const names = namesOf(entry);
  const { preauthorizationId: _, ...handle } = newHandle(asker.cipher, names.requestId);
  const { at, inquireAt } = timesOf(entry, asker);
  const { tokenId, ...place } = placeOf(entry);
  const { allowMultipleCaptures, notifyHolds, holdPeriodS } = contract;
  const { outcome } = await asker.books.insertHold({
    ...names,
    ...place,
    ...handle,
    ...{ allowMultipleCaptures, notifyHolds, holdPeriodS },
    tokenId: tokenId || undefined,
    phase: 'AUTHORIZING',
    amount: entry.amount.toString(),
    saveCard: false,
    imported: true,
    createdAt: at.toISOString(),
    inquireAt: inquireAt.toISOString(),
  });
  if (outcome !== 'STORED' && outcome !== 'RESUMED') throw new Unable('it is known here by now');
  return names.requestId;
}

/** The hold of what is captured or given back. Throws Unable when it is unknown. */
async function holdOf({ authorizationRequestId }: UnknownEntry, { database }: Asker): Promise<HoldRow> {
  const known = await findSentSubmission(database.query, authorizationRequestId ?? '');
  const hold = known?.table === 'hold' ? await findHold(database.query, known.requestId) : undefined;
  if (!hold) throw new Unable(`its authorization ${authorizationRequestId} is unknown here: import that first`);
  return hold;
}

/** A requestId keeps its name; what was sent under an identifier from a key gets a requestId of the time when it was done. */
function namesOf({ requestId: identifier, actedAt }: UnknownEntry) {
  const isRequestId = identifier[14] === '7';
  const requestId = isRequestId ? identifier : uuidv7({ msecs: actedAt.getTime() });
  return { requestId, processorRequestId: isRequestId ? undefined : identifier };
}

function placeOf({ merchantId, terminalId, userId, tokenId, currency, processor, account }: UnknownEntry) {
  return { merchantId, terminalId, userId, tokenId, currency, processor, processorAccount: account };
}

function timesOf({ actedAt }: UnknownEntry, { clock, processors }: Asker) {
  return { at: actedAt, inquireAt: callOverAt(processors, clock()) };
}

/** Books what the processor answered, as of the time when it acted. */
async function endImported(
  { actedAt }: UnknownEntry,
  { asker, answer }: Importing,
  table: SubmissionTable,
  requestId: string,
): Promise<void> {
  if (answer.found !== 'DONE') return;
  const kind = KINDS[table];
  const facts = await kind.find(asker.database.query, requestId);
  assert(facts, 'what was stored is there');
  await end({ ...asker, clock: () => actedAt }, kind, facts, answer.outcome);
}

/** Books that a hold has ended at the processor, like its event. What was lost with it has been imported before. Returns its requestId. */
async function importEnd(asker: Asker, holdRequestId: string): Promise<string> {
  const { query } = asker.database;
  const open = await findHold(query, holdRequestId);
  if (!open) throw new Unable('its hold is not here any more');
  await markEnded(query, { requestId: holdRequestId, as: 'EXPIRED', amount: open.remaining, reference: '' });
  const hold = await findHold(query, holdRequestId);
  if (hold?.endedAs != null) await endHold(asker, hold);
  return holdRequestId;
}

/**
 * Books what is taken back of a capture at the processor, minor units in all, as a reversal of what is not booked yet. It is booked once,
 * because the event that it stands for is named after it. Returns the capture's requestId.
 */
export async function importReversal(
  { books, clock, database }: Asker,
  captureRequestId: string,
  takenBack: bigint,
  reference = '',
): Promise<string> {
  const capture = await findCapture(database.query, captureRequestId);
  assert(capture, 'the capture is known here');
  const { holdRequestId } = capture;
  const amount = takenBack - amountReversedOf(capture);
  if (amount <= 0n) return captureRequestId;
  const id = `reconciled-${captureRequestId}-${takenBack}`;
  const event = { id, digest: createHash('sha256').update(id).digest() };
  const reversal = { requestId: uuidv7(), kind: 'REVERSAL', holdRequestId, captureRequestId, amount } as const;
  const became = await takeBack(books, { ...reversal, reference, event, at: clock() });
  if (became === 'TOO_MUCH') throw new Unable('more was taken back of it than is left of its captures here');
  return captureRequestId;
}
