import assert from 'node:assert/strict';
import { NIL } from 'uuid';
import { drawIdOf } from '../../../platform/draw-id.ts';
import { Gather } from '../../../platform/gather.ts';
import type { StoreRequest } from '../books/books.ts';
import type { HoldRequest, PlaceRequest, Stored } from '../books/submission-request.ts';
import { BY_INQUIRY } from '../domain/contradiction.ts';
import { endOf } from '../domain/hold-rules.ts';
import { authorizationOf } from '../domain/kept-hold.ts';
import { isOk, type Outcome } from '../domain/outcome.ts';
import { perform, voidReplaced } from '../kinds/perform.ts';
import type { Sender } from '../kinds/sender.ts';
import { callOverAt, type InquiryAnswer } from '../processor/processor.ts';
import { actorOfCall } from '../storage/audit-log/actor.ts';
import type { Cipher } from '../storage/cipher.ts';
import { findClaims } from '../storage/claim/claim-row.ts';
import { resolveImported } from '../storage/contradiction/contradictions.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import type { HoldInput } from '../storage/hold/insert-holds.ts';
import { handleOf } from '../storage/hold/preauthorization-id.ts';
import { type Authorized, findAuthorizationsAt, findHold } from '../storage/hold/read-holds.ts';
import { markImported } from '../storage/imported/import-marks.ts';
import { findMerchant, type MerchantRow } from '../storage/merchant/merchant-row.ts';
import { findSentAs } from '../storage/submission/find-sent.ts';
import { CHANGES, importChange, importTakenBack, settleRenewal } from './import-change.ts';
import { isToBePlaced, notPlacedYet, Unable } from './unable.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/** The context of an import. */
export interface Importing {
  readonly sender: Sender;
  /** The processor's answer to the inquiry about the entry. */
  readonly answer: InquiryAnswer;
  readonly reads: ReturnType<typeof openImportReads>;
  /** Its names here, by nameAll(). */
  readonly names: Names;
}

/** Opens what the imports of one run read, for many at once. */
export function openImportReads(database: Database) {
  const merchants = new Map<string, Promise<MerchantRow | undefined>>();
  const holds = new Gather<{ identifier: string; processor: string }, Authorized | undefined>(
    (batch) => findAuthorizationsAt(database.query, batch),
    { maxBatch: 256, lanes: 2 },
  );
  return {
    /** The merchant, as it was at the first look. */
    merchant(merchantId: string): Promise<MerchantRow | undefined> {
      const found = merchants.get(merchantId) ?? findMerchant(database, merchantId);
      merchants.set(merchantId, found);
      return found;
    },
    /** The hold of an authorization that an entry is about, and that authorization. */
    authorized: ({ authorizationRequestId, processor }: UnknownEntry) =>
      holds.submit({ identifier: authorizationRequestId ?? NIL, processor }),
  };
}

/** The requestId of an imported operation, and its identifier at the processor when it differs. */
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
  const { answer, names, sender } = importing;
  if (entry.isHere) return importChange(sender, entry);
  // Its own name may be taken because somebody else has imported it since the books were compared.
  const isRenamed = names.requestId !== ownName(entry);
  if (isRenamed && (await findSentAs(sender.database.query, entry.requestId, entry.processor))) {
    throw new Unable('it is known here by now');
  }
  const asRequest = REQUESTS[entry.kind];
  if (!asRequest) throw new Unable(`core has no operations of the kind ${entry.kind}`);
  const { request, hold } = await asRequest(entry, importing);
  const known = { outcome: outcomeOf(entry, answer), told: BY_INQUIRY, at: entry.actedAt };
  const done = await perform(sender, request, { known });
  if (done.is === 'NOT_STORED') throw notStored(request, hold, done.stored);
  const { kind, requestId } = request;
  if (hold) await explain(sender, hold.requestId, entry);
  const canComeBack = kind === 'CAPTURE' || kind === 'REFUND' || kind === 'OCT';
  if (canComeBack && entry.takenBack > 0n) {
    const holdHere = hold?.requestId ?? null;
    await importTakenBack(sender, CHANGES[kind], { ...entry, holdHere, subjectHere: requestId });
  }
  return requestId;
}

/** The outcome of an entry by the processor's answer; an entry that has not ended there is left to recovery. */
function outcomeOf({ isOvertaken }: UnknownEntry, answer: InquiryAnswer): Outcome {
  if (answer.found === 'DONE') return isOk(answer.outcome) ? { ...answer.outcome, isOvertaken } : answer.outcome;
  if (answer.found !== 'AT_WORK') return { answer: 'UNKNOWN' };
  return { answer: 'ACCEPTED', expectedBy: answer.expectedBy, page: answer.page };
}

function notStored({ kind }: StoreRequest, hold: HoldRow | undefined, { outcome }: Stored): Unable {
  if (!hold) return new Unable('it is known here by now');
  const room = kind === 'RELEASE' || kind === 'EXPIRY' ? 'nothing to give back' : 'no room for it';
  return new Unable(`the hold ${hold.requestId} has ${room}: ${outcome}`);
}

/** A capture by somebody else that is booked now is in doubt no longer, nor what an import explains of a hold's end. */
function explain({ database, clock }: Sender, holdRequestId: string, { requestId: identifier }: UnknownEntry) {
  const resolution = { at: clock(), by: actorOfCall(), how: 'imported' };
  return resolveImported(database.query, { holdRequestId, identifier }, resolution);
}

/** The request that stores an entry, and its hold. */
interface Asked {
  readonly request: StoreRequest;
  readonly hold?: HoldRow | undefined;
}

/** The requests that store the entries of each kind. */
const REQUESTS: Readonly<Record<string, (entry: UnknownEntry, importing: Importing) => Promise<Asked>>> = {
  AUTHORIZATION: async (entry, importing) => ({ request: await placing(entry, importing) }),
  CAPTURE: (entry, importing) =>
    onHold(entry, importing, { kind: 'CAPTURE', amount: entry.amount, finalCapture: entry.isFinal }),
  INCREMENT: (entry, importing) => onHold(entry, importing, { kind: 'INCREMENT', amount: entry.amount }),
  DECREASE: (entry, importing) => onHold(entry, importing, { kind: 'PARTIAL_RELEASE', amount: entry.amount }),
  EXTENSION: (entry, importing) => onHold(entry, importing, { kind: 'EXTENSION' }),
  VOID: (entry, importing) => onHold(entry, importing, { kind: 'RELEASE' }),

  /** What an earlier renewal has left to give back is given back first, and one without a result has one. */
  async RENEWAL(entry, importing) {
    const { sender } = importing;
    const { request, hold } = await onHold(entry, importing, { kind: 'RENEWAL', amount: entry.amount });
    if (hold.renewalId != null)
      await settleRenewal(sender, { ...entry, subjectHere: hold.renewalId, isOvertaken: false });
    const { toVoid } = (await findHold(sender.database.query, hold.requestId)) ?? hold;
    if (toVoid != null) await voidReplaced(sender, { ...hold, toVoid });
    return { request, hold };
  },

  async REFUND(entry, importing) {
    const { captureRequestId: identifier, processor, amount } = entry;
    const capture = await findSentAs(importing.sender.database.query, identifier ?? NIL, processor);
    if (capture?.kind !== 'CAPTURE') throw new Unable(`its capture ${identifier} is unknown here: import that first`);
    return onHold(entry, importing, { kind: 'REFUND', captureRequestId: capture.requestId, amount });
  },

  async CREDIT(entry, { sender, names }) {
    const { amount } = entry;
    const merchantReference = entry.merchantReference || undefined;
    const what = { kind: 'OCT', amount, merchantReference, imported: true } as const;
    return { request: { ...names, ...placeOf(entry), ...timesOf(entry, sender), ...what } };
  },
};

/**
 * The request of a capture, change, renewal or void on the hold of its authorization; a release after the end is an
 * expiry, and the void of an authorization that the hold does not count on is a late one. Throws Unable when the hold is
 * unknown.
 */
async function onHold(
  entry: UnknownEntry,
  { sender, reads, names }: Importing,
  what: Pick<HoldRequest, 'kind' | 'captureRequestId' | 'amount' | 'finalCapture'>,
): Promise<Asked & { readonly hold: HoldRow }> {
  const on = await reads.authorized(entry);
  if (!on) throw new Unable(`its authorization ${entry.authorizationRequestId} is unknown here: import that first`);
  const { hold, authorization } = on;
  // A void would cancel the checkout, which was paid. An inquiry places the hold.
  if (isToBePlaced(hold)) throw notPlacedYet(hold);
  const kind = what.kind === 'RELEASE' ? voidOf(on, entry.actedAt) : what.kind;
  const { idHash } = hold;
  const common = { ...names, ...timesOf(entry, sender), merchantReference: entry.merchantReference || undefined };
  return { request: { ...common, ...what, kind, idHash, authorization, imported: true }, hold };
}

function voidOf(on: Authorized, at: Date): 'RELEASE' | 'EXPIRY' | 'LATE_VOID' {
  if (!isPresent(on)) return 'LATE_VOID';
  return endOf({ ...on.hold, captureAt: null }, at) === 'HOLD_EXPIRED' ? 'EXPIRY' : 'RELEASE';
}

/** Returns whether a hold counts on this one of its authorizations. */
export function isPresent({ hold, authorization }: Authorized): boolean {
  return authorization === authorizationOf(hold);
}

/** The request that stores the hold of an authorization. Throws Unable when the merchant does not exist. */
export async function placing(entry: UnknownEntry, { sender, reads, names }: Importing): Promise<PlaceRequest> {
  const contract = await reads.merchant(entry.merchantId);
  if (!contract) throw new Unable(`the merchant ${entry.merchantId} does not exist here`);
  const { idHash, idKey } = handleOfImported(entry, names.requestId, sender.cipher);
  const { at, inquireAt } = timesOf(entry, sender);
  const { tokenId, ...place } = placeOf(entry);
  const { allowMultipleCaptures, notifyHolds, notifyExpiringHours, holdPeriodS } = contract;
  const hold: HoldInput = {
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
  };
  return { kind: 'HOLD', requestId: names.requestId, hold };
}

/** The preauthorizationId of an imported hold: its own, unless its requestId or key of ENCRYPTION_KEYS is gone. */
export function handleOfImported(entry: UnknownEntry, requestId: string, cipher: Cipher) {
  const isOwn = requestId === (entry.operationRequestId || entry.requestId);
  const kept = isOwn && entry.memo !== '' ? handleOf(cipher, requestId, entry.memo) : undefined;
  const handle = kept ?? handleOf(cipher, requestId);
  assert(handle, 'the current key is known');
  return { ...handle, isKept: kept !== undefined };
}

/**
 * Names the operations to import, without changes of known ones. An operation gets the requestId that core has sent
 * with it, unless an operation at another processor has it; then it gets one with the time of the operation. The
 * imports are stored under these names before anything else.
 */
export async function nameAll(
  plans: readonly { readonly entry: UnknownEntry }[],
  { database: { query }, clock }: Pick<Sender, 'database' | 'clock'>,
): Promise<ReadonlyMap<UnknownEntry, Names>> {
  const entries = new Set(plans.map(({ entry }) => entry).filter(({ isHere }) => !isHere));
  const claims = await findClaims(query, [...entries].map(ownName).filter(Boolean));
  const taken = new Set(['', ...claims.map(({ requestId }) => requestId)]);
  const names = new Map<UnknownEntry, Names>();
  for (const entry of entries) {
    const own = ownName(entry);
    const requestId = taken.has(own) ? drawIdOf(entry.actedAt) : own;
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
