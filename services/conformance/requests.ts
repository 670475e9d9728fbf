/** The requests that the kit sends. */
import { drawId } from '../../platform/draw-id.ts';
import {
  type AuthorizeRequest,
  type CaptureRequest,
  EntryKind,
  MerchantReason,
  type RefundRequest,
  type Result,
} from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** The methods that do something under an identifier and answer a Result, by what an inquiry and the books call it. */
export const KIND_OF = {
  authorize: EntryKind.AUTHORIZATION,
  capture: EntryKind.CAPTURE,
  void: EntryKind.VOID,
  incrementAuthorization: EntryKind.INCREMENT,
  decreaseAuthorization: EntryKind.DECREASE,
  extendAuthorization: EntryKind.EXTENSION,
  refund: EntryKind.REFUND,
  credit: EntryKind.CREDIT,
} as const;

type Method = keyof typeof KIND_OF;

type Fields = Omit<CaptureRequest, '$typeName' | '$unknown'> &
  Pick<RefundRequest, 'captureRequestId'> &
  Pick<AuthorizeRequest, 'merchantReference' | 'memo'> &
  Pick<AuthorizeRequest, 'customerPresent' | 'merchantReason' | 'networkTransactionId'> &
  Pick<AuthorizeRequest, 'returnUrl' | 'threeDSecure' | 'actionExpiresAt' | 'renews'>;

/** A request to one of them. */
export type Request = Pick<Fields, 'requestId' | 'merchantId' | 'account'> & Partial<Fields> & { method: Method };

/** A request that was answered, with its last answer. */
export interface Answered {
  readonly request: Request;
  readonly result: Result;
}

/** A hold of a card. */
export type Hold = Request & Pick<AuthorizeRequest, 'terminalId' | 'userId' | 'tokenId' | 'amount' | 'currency'>;

/** An authorization that renews a hold's, as core asks for it; by default of the whole and with the same token. */
export function renewal({ requestId: renews, ...hold }: Hold, tokenId = hold.tokenId, amount = hold.amount) {
  const merchantReason = MerchantReason.REAUTHORIZATION;
  return { ...hold, ...named('authorize'), tokenId, amount, merchantReason, renews };
}

/** The authorization that a request is about, or that it renews. */
export function authorizationOf({ authorizationRequestId, renews }: Partial<Fields>): string {
  return authorizationRequestId ?? renews ?? '';
}

/** A capture of a hold. */
export function capture(hold: Hold, amount: bigint, finalCapture = false) {
  return { ...hold, ...named('capture'), authorizationRequestId: hold.requestId, amount, finalCapture };
}

/** What names a hold, for requests that need no more. */
function ofHold<M extends Method>(method: M, { requestId, merchantId, account }: Hold) {
  return { ...named(method), authorizationRequestId: requestId, merchantId, account };
}

function named<M extends Method>(method: M) {
  return { method, requestId: drawId(), operationRequestId: drawId() };
}

export const voiding = (hold: Hold) => ofHold('void', hold);
export const extension = (hold: Hold) => ofHold('extendAuthorization', hold);

export function increment(hold: Hold, amount: bigint) {
  return { ...ofHold('incrementAuthorization', hold), amount, currency: hold.currency };
}

export function decrease(hold: Hold, amount: bigint) {
  return { ...ofHold('decreaseAuthorization', hold), amount, currency: hold.currency };
}

/** A refund of a capture. */
export function refund(of: ReturnType<typeof capture>, amount: bigint) {
  const { requestId: captureRequestId, authorizationRequestId, merchantId, account, currency } = of;
  return { ...named('refund'), captureRequestId, authorizationRequestId, merchantId, account, amount, currency };
}
