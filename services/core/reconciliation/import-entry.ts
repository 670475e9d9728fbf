import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { type HoldRequest, isStored } from '../books/request.ts';
import type { SentKind } from '../domain/kinds.ts';
import { handleOf } from '../kinds/checkout.ts';
import { endHold } from '../kinds/end-hold.ts';
import { factsOf, type Sender } from '../kinds/facts.ts';
import { settle } from '../kinds/settle.ts';
import { callOverAt, type InquiryAnswer } from '../processor/processor.ts';
import type { Cipher } from '../storage/cipher.ts';
import { findClaims } from '../storage/claim/claim-row.ts';
import { markEnded } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { markImported } from '../storage/imported/imported.ts';
import { findMerchant } from '../storage/merchant/merchant.ts';
import { findSentAs } from '../storage/submission/find-sent.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/** Why an entry cannot be imported or given back, in plain words. */
export class Unable extends Error {}

/** What an import works with besides the entry. */
export interface Importing {
  readonly sender: Sender;
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
    if (changeHere === 'END') return importEnd(importing.sender, holdHere);
    return importReversal(importing.sender, { ...entry, holdRequestId: holdHere, captureRequestId: captureHere });
  }
  const store = STORE[entry.kind];
  if (!store) throw new Unable(`core has no operations of the kind ${entry.kind}`);
  const { kind, requestId } = await store(entry, importing);
  await settleImported(entry, importing, kind, requestId);
  if (kind === 'CAPTURE' && entry.takenBack > 0n) await importReversalOf(importing.sender, requestId, entry);
  return requestId;
}

type Store = (
  entry: UnknownEntry,
  importing: Importing,
) => Promise<{ readonly kind: SentKind; readonly requestId: string }>;

/** How the entries of each kind are stored. */
const STORE: Readonly<Record<string, Store>> = {
  async AUTHORIZATION(entry, { sender }) {
    if (entry.answer === 'UNSPECIFIED') throw new Unable('an open checkout cannot be imported: give it back');
    return { kind: 'HOLD', requestId: await storeHold(entry, sender) };
  },

  async CAPTURE(entry, { sender, isFinal }) {
    const hold = await holdOf(entry, sender);
    return storeOn(hold, entry, sender, { kind: 'CAPTURE', amount: entry.amount, finalCapture: isFinal });
  },

  async VOID(entry, { sender }) {
    const hold = await holdOf(entry, sender);
    const isExpiry = hold.expiresAt != null && hold.expiresAt <= entry.actedAt;
    return storeOn(hold, entry, sender, { kind: isExpiry ? 'EXPIRY' : 'RELEASE' });
  },

  async CREDIT(entry, { sender }) {
    const names = await namesOf(entry, sender, entry.merchantId);
    const { amount } = entry;
    const oct = {
      ...names,
      ...placeOf(entry),
      ...timesOf(entry, sender),
      kind: 'OCT',
      amount,
      merchantReference: entry.merchantReference || undefined,
      imported: true,
    } as const;
    if (!isStored(await sender.books.store(oct))) throw new Unable('it is known here by now');
    return oct;
  },
};

async function storeOn(
  { requestId: holdRequestId, idHash, merchantId }: HoldRow,
  entry: UnknownEntry,
  sender: Sender,
  what: Pick<HoldRequest, 'kind' | 'amount' | 'finalCapture'>,
) {
  const names = await namesOf(entry, sender, merchantId);
  const request = { ...names, ...timesOf(entry, sender), ...what, idHash, imported: true };
  const stored = await sender.books.store(request);
  if (isStored(stored)) return request;
  const room = what.kind === 'CAPTURE' ? 'no room for it' : 'nothing to give back';
  throw new Unable(`the hold ${holdRequestId} has ${room}: ${stored.outcome}`);
}

/** Stores the hold of an authorization, as one whose outcome is open. Throws Unable when the merchant does not exist. */
export async function storeHold(entry: UnknownEntry, sender: Sender): Promise<string> {
  const contract = await findMerchant(sender.database, entry.merchantId);
  if (!contract) throw new Unable(`the merchant ${entry.merchantId} does not exist here`);
  const names = await namesOf(entry, sender, entry.merchantId);
  const { idHash, idCiphertext } = handleOfImported(entry, names.requestId, sender.cipher);
  const { at, inquireAt } = timesOf(entry, sender);
  const { tokenId, ...place } = placeOf(entry);
  const { allowMultipleCaptures, notifyHolds, holdPeriodS } = contract;
  const stored = await sender.books.insertHold({
    ...names,
    ...place,
    idHash,
    idCiphertext,
    merchantReference: entry.merchantReference || undefined,
    allowMultipleCaptures,
    notifyHolds,
    holdPeriodS,
    tokenId: tokenId || undefined,
    phase: 'AUTHORIZING',
    amount: entry.amount.toString(),
    saveCard: false,
    customerPresent: tokenId === '',
    imported: true,
    isSentUnderKey: false,
    createdAt: at.toISOString(),
    inquireAt: inquireAt.toISOString(),
  });
  if (!isStored(stored)) throw new Unable('it is known here by now');
  return names.requestId;
}

/** The preauthorizationId of a hold that is imported: the one that it had, unless its requestId or key of ENCRYPTION_KEYS is gone. */
export function handleOfImported(entry: UnknownEntry, requestId: string, cipher: Cipher) {
  const isOwn = requestId === (entry.operationRequestId || entry.requestId);
  const kept = isOwn && entry.memo !== '' ? handleOf(cipher, requestId, entry.memo) : undefined;
  const handle = kept ?? handleOf(cipher, requestId);
  assert(handle, 'the current key is known');
  return { ...handle, isKept: kept !== undefined };
}

/** The hold of what is captured or given back. Throws Unable when it is unknown. */
async function holdOf({ authorizationRequestId, processor }: UnknownEntry, { database }: Sender): Promise<HoldRow> {
  const known = await findSentAs(database.query, authorizationRequestId ?? '', processor);
  const hold = known?.kind === 'HOLD' ? await findHold(database.query, known.requestId) : undefined;
  if (!hold) throw new Unable(`its authorization ${authorizationRequestId} is unknown here: import that first`);
  return hold;
}

/**
 * An operation gets the requestId again that core has sent with it, unless an operation at another processor has it; then it gets one of the
 * time when it was done. The import is remembered under it before anything is stored.
 */
async function namesOf(entry: UnknownEntry, { database: { query }, clock }: Sender, merchantId: string) {
  const { requestId: identifier, operationRequestId, actedAt } = entry;
  const own = operationRequestId || (identifier[14] === '7' ? identifier : '');
  const isFree = own !== '' && (await findClaims(query, [own])).length === 0;
  const requestId = isFree ? own : uuidv7({ msecs: actedAt.getTime() });
  await markImported(query, { requestId, what: 'OPERATION', merchantId }, clock());
  return { requestId, processorRequestId: requestId === identifier ? undefined : identifier };
}

function placeOf({ merchantId, terminalId, userId, tokenId, currency, processor, account }: UnknownEntry) {
  return { merchantId, terminalId, userId, tokenId, currency, processor, processorAccount: account };
}

function timesOf({ actedAt }: UnknownEntry, { clock, processors }: Sender) {
  return { at: actedAt, inquireAt: callOverAt(processors, clock()) };
}

/** Books what the processor answered, as of the time when it acted. */
async function settleImported(
  { actedAt }: UnknownEntry,
  { sender, answer }: Importing,
  kind: SentKind,
  requestId: string,
): Promise<void> {
  if (answer.found !== 'DONE') return;
  const facts = await factsOf(sender.database.query, kind, requestId);
  await settle({ ...sender, clock: () => actedAt }, facts, answer.outcome);
}

/** Books that a hold has ended at the processor, like its event. What was lost with it has been imported before. Returns its requestId. */
async function importEnd(sender: Sender, holdRequestId: string): Promise<string> {
  const { query } = sender.database;
  const open = await findHold(query, holdRequestId);
  if (!open) throw new Unable('its hold is not here any more');
  await markEnded(query, { requestId: holdRequestId, as: 'EXPIRED', amount: open.remaining, reference: '' });
  const hold = await findHold(query, holdRequestId);
  if (hold?.endedAs != null) await endHold(sender, hold, { imported: true });
  return holdRequestId;
}

/** What is taken back at a processor, minor units in all, of a capture, or of a hold and none of its captures. */
interface TakenBackThere {
  readonly merchantId: string;
  readonly holdRequestId: string;
  readonly captureRequestId: string | null;
  readonly takenBack: bigint;
  /** Absent = not known. */
  readonly reference?: string;
}

/** Books what is taken back of a capture. Returns its requestId. */
export async function importReversalOf(
  sender: Sender,
  captureRequestId: string,
  there: Omit<TakenBackThere, 'merchantId' | 'holdRequestId' | 'captureRequestId'>,
): Promise<string> {
  const capture = await findSubmission(sender.database.query, captureRequestId);
  assert(capture?.holdRequestId, 'the capture is known here');
  const { holdRequestId, merchantId } = capture;
  return importReversal(sender, { ...there, merchantId, holdRequestId, captureRequestId });
}

/**
 * Books the difference to what is taken back there, as a reversal or a reinstatement. The import is marked first, so that an event that
 * reports the same later is not booked again. Returns the requestId of the capture or hold.
 */
async function importReversal(sender: Sender, imported: TakenBackThere): Promise<string> {
  const { books, clock, database } = sender;
  const { holdRequestId, takenBack: there, reference = '' } = imported;
  const captureRequestId = imported.captureRequestId ?? undefined;
  const { merchantId } = imported;
  for (const requestId of [captureRequestId ?? holdRequestId, holdRequestId]) {
    await markImported(database.query, { requestId, what: 'TAKEN_BACK', merchantId }, clock());
  }
  for (const kind of ['REVERSAL', 'REINSTATEMENT'] as const) {
    const requestId = uuidv7();
    const taking = { requestId, kind, holdRequestId, captureRequestId, amount: MOST, reference, there };
    const became = await books.takeBack({ ...taking, at: clock() });
    if (became === 'TOO_MUCH') throw new Unable('more was taken back of it than is left of its captures here');
  }
  return captureRequestId ?? holdRequestId;
}

/** More than any amount: the difference is what is booked. */
const MOST = 1_000_000_000_000n;
