import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { reserveHoldRelease } from '../books/reserve-release.ts';
import { takeBack } from '../books/take-back.ts';
import type { SubmissionTable } from '../domain/kinds.ts';
import { end } from '../kinds/end.ts';
import { endHold } from '../kinds/end-hold.ts';
import { newHandle } from '../kinds/hold.ts';
import type { Asker } from '../kinds/kind.ts';
import { KINDS } from '../kinds/kinds.ts';
import { callOverAt, type InquiryAnswer } from '../processor/processor.ts';
import { storedFor } from '../processor/processors.ts';
import { findCapture } from '../storage/capture/capture.ts';
import { findClaimed } from '../storage/claim/claim.ts';
import { markEnded } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { markImported } from '../storage/imported/imported.ts';
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
  const { changeHere, captureHere, holdHere } = entry;
  if (changeHere !== null) {
    assert(holdHere, 'it is a change of a hold');
    if (changeHere === 'END') return importEnd(importing.asker, holdHere);
    return importReversal(importing.asker, { ...entry, holdRequestId: holdHere, captureRequestId: captureHere });
  }
  const table = TABLES[entry.kind];
  if (!table) throw new Unable(`core has no operations of the kind ${entry.kind}`);
  const requestId = await STORE[table](entry, importing);
  await endImported(entry, importing, table, requestId);
  if (table === 'capture' && entry.takenBack > 0n) await importReversalOf(importing.asker, requestId, entry);
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
    const names = await namesOf(entry, asker);
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
    const names = await namesOf(entry, asker);
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
    const names = await namesOf(entry, asker);
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
  const names = await namesOf(entry, asker);
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
async function holdOf(
  { authorizationRequestId, processor }: UnknownEntry,
  { database, processors }: Asker,
): Promise<HoldRow> {
  const names = storedFor(processors, processor);
  const known = await findSentSubmission(database.query, authorizationRequestId ?? '', names);
  const hold = known?.table === 'hold' ? await findHold(database.query, known.requestId) : undefined;
  if (!hold) throw new Unable(`its authorization ${authorizationRequestId} is unknown here: import that first`);
  return hold;
}

/**
 * A requestId keeps its name, unless an operation at another processor has it. That, and what was sent under an identifier from a key, gets a
 * requestId of the time when it was done.
 */
async function namesOf({ requestId: identifier, actedAt }: UnknownEntry, { database }: Asker) {
  const isFree = identifier[14] === '7' && (await findClaimed(database.query, [identifier])).size === 0;
  const requestId = isFree ? identifier : uuidv7({ msecs: actedAt.getTime() });
  return { requestId, processorRequestId: isFree ? undefined : identifier };
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

/** What is taken back at a processor, minor units in all, of a capture, or of a hold and none of its captures. */
interface TakenBackThere {
  readonly holdRequestId: string;
  readonly captureRequestId: string | null;
  readonly takenBack: bigint;
  /** Absent = not known. */
  readonly reference?: string;
}

/** Books what is taken back of a capture. Returns its requestId. */
export async function importReversalOf(
  asker: Asker,
  captureRequestId: string,
  there: Omit<TakenBackThere, 'holdRequestId' | 'captureRequestId'>,
): Promise<string> {
  const capture = await findCapture(asker.database.query, captureRequestId);
  assert(capture, 'the capture is known here');
  return importReversal(asker, { ...there, holdRequestId: capture.holdRequestId, captureRequestId });
}

/**
 * Books the difference to what is taken back there, as a reversal or a reinstatement. The import is marked first, so that an event that
 * reports the same later is not booked again. Returns the requestId of the capture or hold.
 */
async function importReversal(asker: Asker, imported: TakenBackThere): Promise<string> {
  const { books, clock, database } = asker;
  const { holdRequestId, takenBack: there, reference = '' } = imported;
  const captureRequestId = imported.captureRequestId ?? undefined;
  for (const subject of [captureRequestId ?? holdRequestId, holdRequestId]) {
    await markImported(database.query, subject, 'TAKEN_BACK', clock());
  }
  for (const kind of ['REVERSAL', 'REINSTATEMENT'] as const) {
    const requestId = uuidv7();
    const taking = { requestId, kind, holdRequestId, captureRequestId, amount: MOST, reference, there };
    const became = await takeBack(books, { ...taking, at: clock() });
    if (became === 'TOO_MUCH') throw new Unable('more was taken back of it than is left of its captures here');
  }
  return captureRequestId ?? holdRequestId;
}

/** More than any amount: the difference is what is booked. */
const MOST = 1_000_000_000_000n;
