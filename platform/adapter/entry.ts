/** What the ledgers of all adapters have in common: kinds of entries, results, and how both are shown to core. */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import {
  Answer,
  type CapabilitiesSchema,
  EntryKind,
  type ListEntriesRequest,
  type ListEntriesResponseSchema,
  type NextAction,
  NextActionSchema,
  type ResultSchema,
} from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { RpcError } from './serve.ts';

/** What an identifier was used for. A checkout is an authorization that waits for a card. */
export type Kind = keyof typeof KINDS;

const KINDS = {
  authorization: EntryKind.AUTHORIZATION,
  checkout: EntryKind.AUTHORIZATION,
  capture: EntryKind.CAPTURE,
  void: EntryKind.VOID,
  increment: EntryKind.INCREMENT,
  decrease: EntryKind.DECREASE,
  extension: EntryKind.EXTENSION,
  refund: EntryKind.REFUND,
  credit: EntryKind.CREDIT,
  fence: EntryKind.FENCE,
} as const;

/** The contract's largest amount, minor units. */
export const LARGEST_AMOUNT = 999_999_999_999n;

/** Default values of a result. */
export const NO_RESULT = {
  answer: Answer.UNSPECIFIED as Answer,
  reference: '',
  bankReference: '',
  errorCode: '',
  errorMessage: '',
  /** The part of a card that may be stored; empty when there is no card. */
  cardBrand: '',
  cardLast4: '',
  cardExpiryMonth: 0,
  cardExpiryYear: 0,
  /** In the contract's words (Card in processor.proto); shown when the card itself is known. */
  funding: '',
  threeDSecure: '',
  declineCode: '',
  generatedTokenId: '',
  /** The card network's identifier of an authorization. */
  networkTransactionId: '',
};

/** A result, without its times. */
export type KeptResult = Readonly<typeof NO_RESULT>;

/** What says which card it was. */
export type KeptCard = Pick<KeptResult, 'cardBrand' | 'cardLast4' | 'cardExpiryMonth' | 'cardExpiryYear'>;

/** A result as the contract carries it. */
export type ResultInit = MessageInitShape<typeof ResultSchema>;

/** A result with what it says besides, as a ledger keeps it. */
interface KeptEnding extends KeptResult {
  readonly kind: Kind;
  /** Our identifier of the operation. */
  readonly requestId: string;
  /** What was in truth done, minor units; null or absent = what was asked for. */
  readonly amountDone?: Amount | null;
  readonly actedAt: Date | null;
  /** When the reservation ends, of an approval. */
  readonly expiresAt: Date | null;
  /** How long the card scheme guarantees the reservation, of an approval; null or absent = not known. */
  readonly guaranteedUntil?: Date | null;
  /** When an accepted operation should have ended. */
  readonly expectedBy: Date | null;
  /** Given back by this capture or void, minor units. */
  readonly released: Amount;
  /** Of an authorization that was accepted: the page where its customer is authenticated, and when that closes. */
  readonly page?: { readonly url: string; readonly expiresAt: Date | null } | undefined;
  /** What the authorization can do. */
  readonly capabilities: MessageInitShape<typeof CapabilitiesSchema>;
}

/** Kinds whose result says what the authorization can do. */
const RESERVING: ReadonlySet<Kind> = new Set(['authorization', 'checkout', 'increment', 'decrease', 'extension']);

/** The contract's form of how an operation ended, or that it was accepted. */
export function resultOf(kept: KeptEnding): ResultInit {
  const { kind, requestId, answer, reference, bankReference, errorCode, errorMessage, generatedTokenId } = kept;
  const { cardBrand: brand, cardLast4: last4, cardExpiryMonth: expiryMonth, cardExpiryYear: expiryYear } = kept;
  const { funding, threeDSecure, declineCode, networkTransactionId } = kept;
  const card = { brand, last4, expiryMonth, expiryYear, funding, threeDSecure, declineCode };
  const { actedAt, expiresAt, guaranteedUntil, expectedBy, capabilities, amountDone, page } = kept;
  const isApproved = answer === Answer.APPROVED;
  const givesBack = kind === 'capture' || kind === 'void';
  return {
    requestId,
    answer,
    reference,
    bankReference,
    errorCode,
    errorMessage,
    generatedTokenId,
    networkTransactionId,
    ...(/^[0-9]{4}$/.test(last4) && { card }),
    ...(actedAt && { actedAt: timestampFromDate(actedAt) }),
    ...(isApproved && expiresAt && { expiresAt: timestampFromDate(expiresAt) }),
    ...(isApproved && guaranteedUntil && { guaranteedUntil: timestampFromDate(guaranteedUntil) }),
    ...(answer === Answer.ACCEPTED && expectedBy && { expectedBy: timestampFromDate(expectedBy) }),
    ...(answer === Answer.ACCEPTED && page && { nextAction: pageOf(page) }),
    ...(isApproved && RESERVING.has(kind) && { capabilities }),
    ...(isApproved && givesBack && { amountReleased: BigInt(kept.released) }),
    ...(isApproved && amountDone != null && { amount: BigInt(amountDone) }),
  };
}

function pageOf({ url, expiresAt }: NonNullable<KeptEnding['page']>): NextAction {
  return create(NextActionSchema, { url, ...(expiresAt && { expiresAt: timestampFromDate(expiresAt) }) });
}

/**
 * The fields of a request that are kept with its identifier, so that a repeated request can be compared: those that
 * `defaults` names; what the request does not have stays as it is there.
 */
export function keptFields<Kept extends object>(defaults: Kept, request: object): Kept {
  const given = Object.entries(request).filter(([name]) => Object.hasOwn(defaults, name));
  return { ...defaults, ...Object.fromEntries(given) };
}

/** Which entries to list: all or of one merchant, account or authorization. Empty = of any. */
export interface Listing extends Pick<ListEntriesRequest, 'merchantId' | 'account' | 'authorizationRequestId'> {
  /** The number of the last entry that was shown; 0 = none was. */
  readonly after: number;
  /** Lists by the time of the last change, then number, what follows this time and `after`; ms. Absent = by number. */
  readonly changedAfterMs?: number | undefined;
  readonly limit: number;
}

type Amount = bigint | number;

/** An entry of a ledger, as it is listed. */
export interface Listed
  extends Pick<KeptResult, 'answer' | 'reference' | 'errorCode'>,
    Readonly<Record<'requestId' | 'merchantId' | 'account' | 'currency', string>>,
    Readonly<Record<'terminalId' | 'userId' | 'tokenId', string>>,
    Readonly<Record<'operationRequestId' | 'merchantReference' | 'memo' | 'renews', string>>,
    Readonly<Record<'amount' | 'captured' | 'voided' | 'reversed' | 'incremented' | 'refunded', Amount>>,
    Readonly<Record<'returned', Amount>> {
  readonly kind: Kind;
  /** Its number, in the order in which identifiers were first seen. */
  readonly sequence: Amount;
  readonly authorizationRequestId: string | null;
  readonly captureRequestId: string | null;
  readonly actedAt: Date | null;
  readonly endedAt: Date | null;
  /** When it last changed, in whole milliseconds. */
  readonly changedAt: Date;
}

const DEFAULT_PAGE_SIZE = 500;

/**
 * A page of a ledger, oldest first. A page token is the number of the last entry shown, after the time of its change
 * when pages are in that order. Throws RpcError for any other token.
 */
export async function listPage(
  request: ListEntriesRequest,
  read: (listing: Listing) => Promise<readonly Listed[]>,
): Promise<MessageInitShape<typeof ListEntriesResponseSchema>> {
  const { merchantId, account, authorizationRequestId } = request;
  const limit = request.pageSize || DEFAULT_PAGE_SIZE;
  const position = positionOf(request);
  const entries = await read({ ...position, limit: limit + 1, merchantId, account, authorizationRequestId });
  const page = entries.slice(0, limit);
  const last = entries.length > limit ? page.at(-1) : undefined;
  return { entries: page.map(entryOf), nextPageToken: last ? tokenOf(last, position) : '' };
}

type Position = Pick<Listing, 'after' | 'changedAfterMs'>;

function positionOf({ pageToken, changedFrom }: ListEntriesRequest): Position {
  const token = /^(?:([1-9][0-9]{0,14})-)?([1-9][0-9]{0,14})$/.exec(pageToken);
  if (pageToken !== '' && (!token || (token[1] === undefined) !== (changedFrom === undefined))) {
    throw new RpcError(status.INVALID_ARGUMENT, 'page_token: is none of ours');
  }
  // Times of changes are whole milliseconds, so this is the first that is not earlier.
  const fromMs = changedFrom && Number(changedFrom.seconds) * 1_000 + Math.ceil(changedFrom.nanos / 1_000_000);
  return { after: Number(token?.[2] ?? 0), changedAfterMs: token?.[1] ? Number(token[1]) : fromMs };
}

function tokenOf({ sequence, changedAt }: Listed, { changedAfterMs }: Position): string {
  return changedAfterMs === undefined ? String(sequence) : `${changedAt.getTime()}-${sequence}`;
}

function entryOf({ sequence: _, terminalId, userId, tokenId, actedAt, endedAt, renews, ...entry }: Listed) {
  const { kind, answer, authorizationRequestId, captureRequestId, merchantId, changedAt } = entry;
  return {
    ...entry,
    kind: KINDS[kind],
    merchantId: kind === 'fence' ? '' : merchantId,
    authorizationRequestId: authorizationRequestId || renews,
    captureRequestId: captureRequestId ?? '',
    ...(!authorizationRequestId && { terminalId, userId, tokenId }),
    // What is at work has not ended; only an open checkout has no answer at all.
    answer: answer || (kind === 'checkout' ? Answer.UNSPECIFIED : Answer.ACCEPTED),
    amount: BigInt(entry.amount),
    captured: BigInt(entry.captured),
    voided: BigInt(entry.voided),
    reversed: BigInt(entry.reversed),
    incremented: BigInt(entry.incremented),
    refunded: BigInt(entry.refunded),
    returned: BigInt(entry.returned),
    changedAt: timestampFromDate(changedAt),
    ...(actedAt && { actedAt: timestampFromDate(actedAt) }),
    ...(endedAt && { endedAt: timestampFromDate(endedAt) }),
  };
}
