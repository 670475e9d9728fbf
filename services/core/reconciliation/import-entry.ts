import assert from 'node:assert/strict';
import { NIL, v7 as uuidv7 } from 'uuid';
import { type HoldRequest, isStored } from '../books/submission-request.ts';
import { endHold } from '../kinds/end-hold.ts';
import { type Facts, onHold, type Sender, type SubmissionFacts } from '../kinds/facts.ts';
import { settle } from '../kinds/settle-outcome.ts';
import { callOverAt, type InquiryAnswer } from '../processor/processor.ts';
import type { Cipher } from '../storage/cipher.ts';
import { findClaims } from '../storage/claim/claim-row.ts';
import { markEnded } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { handleOf } from '../storage/hold/preauthorization-id.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { markImported } from '../storage/imported/import-marks.ts';
import { findSentAs } from '../storage/submission/find-sent.ts';
import type { ImportReads } from './import-reads.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/** Why an entry cannot be imported or given back, in plain words. */
export class Unable extends Error {}

/** What an import works with besides the entry. */
export interface Importing {
  readonly sender: Sender;
  /** What the processor answered when it was asked about the entry. */
  readonly answer: InquiryAnswer;
  readonly reads: ImportReads;
  /** How it is called here, by nameAll(). */
  readonly names: Names;
  /** Of a capture: nothing is left of its authorization, and no void gave the rest back. */
  readonly isFinal: boolean;
}

/** The requestId of what is imported, and its identifier at the processor when that is another one. */
export interface Names {
  readonly requestId: string;
  readonly processorRequestId: string | undefined;
}

/**
 * Stores what the processor did under an identifier that is unknown here, and books it as its answer would have been:
 * with its operation and notification, at the time when the processor acted. What has not ended over there is left to
 * recovery. Returns its requestId. Throws Unable when our books leave no room for it; then nothing is stored.
 */
export async function importEntry(entry: UnknownEntry, importing: Importing): Promise<string> {
  const { changeHere, captureHere, holdHere } = entry;
  const { answer, names, sender } = importing;
  if (changeHere !== null) {
    assert(holdHere, 'it is a change of a hold');
    if (changeHere === 'END') return importEnd(sender, holdHere);
    return importReversal(sender, { ...entry, holdRequestId: holdHere, captureRequestId: captureHere });
  }
  // Its own name may be taken because somebody else has imported it since the books were compared.
  const isRenamed = names.requestId !== ownName(entry);
  if (isRenamed && (await findSentAs(sender.database.query, entry.requestId, entry.processor))) {
    throw new Unable('it is known here by now');
  }
  const store = STORE[entry.kind];
  if (!store) throw new Unable(`core has no operations of the kind ${entry.kind}`);
  const facts = await store(entry, importing);
  if (answer.found === 'DONE') await settle({ ...sender, clock: () => entry.actedAt }, facts, answer.outcome);
  const { kind, requestId, merchantId } = facts;
  if (kind === 'CAPTURE' && entry.takenBack > 0n) {
    const { holdRequestId } = facts;
    assert(holdRequestId, 'a capture has a hold');
    const { takenBack } = entry;
    await importReversal(sender, { merchantId, holdRequestId, captureRequestId: requestId, takenBack });
  }
  return requestId;
}

type Store = (entry: UnknownEntry, importing: Importing) => Promise<Facts>;

/** What is stored on a hold. */
type What = Pick<HoldRequest, 'kind' | 'captureRequestId' | 'amount' | 'finalCapture'>;

/** Stores an entry on the hold of its authorization, as what is said of it. */
const withHold =
  (what: (entry: UnknownEntry, importing: Importing, hold: HoldRow) => What): Store =>
  async (entry, importing) => {
    const hold = await holdOf(entry, importing.reads);
    return storeOn(hold, entry, importing, what(entry, importing, hold));
  };

/** How the entries of each kind are stored. */
const STORE: Readonly<Record<string, Store>> = {
  async AUTHORIZATION(entry, importing) {
    if (entry.answer === 'UNSPECIFIED') throw new Unable('an open checkout cannot be imported: give it back');
    return storeHold(entry, importing);
  },
  CAPTURE: withHold(({ amount }, { isFinal }) => ({ kind: 'CAPTURE', amount, finalCapture: isFinal })),
  INCREMENT: withHold(({ amount }) => ({ kind: 'INCREMENT', amount })),
  EXTENSION: withHold(() => ({ kind: 'EXTENSION' })),
  VOID: withHold(({ actedAt }, _, { expiresAt }) => {
    return { kind: expiresAt != null && expiresAt <= actedAt ? 'EXPIRY' : 'RELEASE' };
  }),

  async REFUND(entry, importing) {
    const { captureRequestId: identifier, processor, amount } = entry;
    const capture = await findSentAs(importing.sender.database.query, identifier ?? NIL, processor);
    if (capture?.kind !== 'CAPTURE') throw new Unable(`its capture ${identifier} is unknown here: import that first`);
    const hold = await holdOf(entry, importing.reads);
    const { requestId: captureRequestId } = capture;
    return { ...(await storeOn(hold, entry, importing, { kind: 'REFUND', captureRequestId, amount })), capture };
  },

  async CREDIT(entry, { sender, names }) {
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
  hold: HoldRow,
  entry: UnknownEntry,
  { sender, names }: Importing,
  what: What,
): Promise<SubmissionFacts> {
  const request = { ...names, ...timesOf(entry, sender), ...what, idHash: hold.idHash, imported: true };
  const stored = await sender.books.store(request);
  if (isStored(stored)) return { ...request, ...onHold(hold), amount: stored.amount ?? 0n };
  const isVoid = what.kind === 'RELEASE' || what.kind === 'EXPIRY';
  const room = isVoid ? 'nothing to give back' : 'no room for it';
  throw new Unable(`the hold ${hold.requestId} has ${room}: ${stored.outcome}`);
}

/** Stores the hold of an authorization as open. Throws Unable when the merchant does not exist. */
export async function storeHold(entry: UnknownEntry, { sender, reads, names }: Importing): Promise<Facts> {
  const contract = await reads.merchant(entry.merchantId);
  if (!contract) throw new Unable(`the merchant ${entry.merchantId} does not exist here`);
  const { idHash, idKey } = handleOfImported(entry, names.requestId, sender.cipher);
  const { at, inquireAt } = timesOf(entry, sender);
  const { tokenId, ...place } = placeOf(entry);
  const { allowMultipleCaptures, notifyHolds, notifyExpiringHours, holdPeriodS } = contract;
  const hold = {
    ...names,
    ...place,
    idHash,
    idKey,
    merchantReference: entry.merchantReference || undefined,
    allowMultipleCaptures,
    notifyHolds,
    notifyExpiringHours,
    holdPeriodS,
    tokenId: tokenId || undefined,
    phase: 'AUTHORIZING',
    amount: entry.amount,
    saveCard: false,
    customerPresent: tokenId === '',
    imported: true,
    createdAt: at,
    inquireAt,
  } as const;
  if (!isStored(await sender.books.insertHold(hold))) throw new Unable('it is known here by now');
  return { ...hold, kind: 'HOLD' };
}

/** The preauthorizationId of an imported hold: its own, unless its requestId or key of ENCRYPTION_KEYS is gone. */
export function handleOfImported(entry: UnknownEntry, requestId: string, cipher: Cipher) {
  const isOwn = requestId === (entry.operationRequestId || entry.requestId);
  const kept = isOwn && entry.memo !== '' ? handleOf(cipher, requestId, entry.memo) : undefined;
  const handle = kept ?? handleOf(cipher, requestId);
  assert(handle, 'the current key is known');
  return { ...handle, isKept: kept !== undefined };
}

/** The hold of what is captured, changed or given back. Throws Unable when it is unknown. */
async function holdOf({ authorizationRequestId, processor }: UnknownEntry, reads: ImportReads): Promise<HoldRow> {
  const hold = await reads.hold(authorizationRequestId ?? NIL, processor);
  if (!hold) throw new Unable(`its authorization ${authorizationRequestId} is unknown here: import that first`);
  return hold;
}

/**
 * Names what is to be imported. An operation gets the requestId again that core has sent with it, unless an operation
 * at another processor has it; then it gets one of the time when it was done. The imports are remembered under these
 * before anything is stored.
 */
export async function nameAll(
  entries: readonly UnknownEntry[],
  { database: { query }, clock }: Pick<Sender, 'database' | 'clock'>,
): Promise<ReadonlyMap<UnknownEntry, Names>> {
  const claims = await findClaims(query, entries.map(ownName).filter(Boolean));
  const taken = new Set(['', ...claims.map(({ requestId }) => requestId)]);
  const names = new Map<UnknownEntry, Names>();
  for (const entry of new Set(entries)) {
    const own = ownName(entry);
    const requestId = taken.has(own) ? uuidv7({ msecs: entry.actedAt.getTime() }) : own;
    taken.add(requestId);
    names.set(entry, { requestId, processorRequestId: requestId === entry.requestId ? undefined : entry.requestId });
  }
  const marks = [...names].map(([{ merchantId }, { requestId }]) => {
    return { requestId, what: 'OPERATION', merchantId } as const;
  });
  await markImported(query, marks, clock());
  return names;
}

/** The requestId that core has sent with an operation; '' = none. */
function ownName({ requestId, operationRequestId }: UnknownEntry): string {
  return operationRequestId || (requestId[14] === '7' ? requestId : '');
}

function placeOf({ merchantId, terminalId, userId, tokenId, currency, processor, account }: UnknownEntry) {
  return { merchantId, terminalId, userId, tokenId, currency, processor, processorAccount: account };
}

function timesOf({ actedAt }: UnknownEntry, { clock, processors }: Sender) {
  return { at: actedAt, inquireAt: callOverAt(processors, clock()) };
}

/** Books that a hold has ended at the processor, like its event: what was lost with it was imported before. */
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
interface TakenBackThere extends Pick<UnknownEntry, 'merchantId' | 'captureRequestId' | 'takenBack'> {
  readonly holdRequestId: string;
}

/**
 * Books the difference to what is taken back there, as a reversal or a reinstatement. The import is marked first, so
 * that an event that reports the same later is not booked again. Returns the requestId of the capture or hold. Throws
 * Unable when there is not so much to take back, or not until a refund has its result.
 */
async function importReversal({ books, clock, database }: Sender, imported: TakenBackThere): Promise<string> {
  const { merchantId, holdRequestId, takenBack: there } = imported;
  const captureRequestId = imported.captureRequestId ?? undefined;
  const marks = [captureRequestId ?? holdRequestId, holdRequestId].map((requestId) => {
    return { requestId, what: 'TAKEN_BACK', merchantId } as const;
  });
  await markImported(database.query, marks, clock());
  for (const kind of ['REVERSAL', 'REINSTATEMENT'] as const) {
    const requestId = uuidv7();
    const taking = { requestId, kind, holdRequestId, captureRequestId, amount: MOST, reference: '', there };
    const became = await books.takeBack({ ...taking, at: clock() });
    if (became === 'REFUNDING') throw new Unable('a refund of it has no result yet: reconcile again later');
    if (became === 'TOO_MUCH') throw new Unable('more was taken back of it than is left of its captures here');
  }
  return captureRequestId ?? holdRequestId;
}

/** More than any amount: the difference is what is booked. */
const MOST = 1_000_000_000_000n;
