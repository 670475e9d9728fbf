import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CreatePreauthorizationRequest,
  type CreatePreauthorizationResponseSchema,
  HoldPhase,
  HoldStatus,
  MerchantReason,
  ThreeDSecure,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { endTimes, judgeTimes, judgeUnsignedCapture, keptTime, NEEDS_TOKEN } from '../../domain/chosen-times.ts';
import type { SubmissionState } from '../../domain/kinds.ts';
import type { HoldfastError } from '../../domain/refusal.ts';
import { pageEnd } from '../../kinds/page.ts';
import type { Processor } from '../../processor/processor.ts';
import { type HoldRow, MERCHANT_REASONS, type WrittenHold } from '../../storage/hold/hold-row.ts';
import type { HoldInput } from '../../storage/hold/insert-holds.ts';
import { handleOf } from '../../storage/hold/preauthorization-id.ts';
import { findHold, findNetworkTransaction } from '../../storage/hold/read-holds.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import { answerKnown, demandAnswerable, type First } from '../answer-stored.ts';
import { type Core, type Method, placeOf } from '../core.ts';
import { agreeing, claimOf, type Fields } from '../idempotency.ts';
import { refusalOf } from '../refuse.ts';
import { contractOf, dateOf, FieldCheck } from '../server/check-fields.ts';
import { wordsIn } from '../words.ts';
import { refuseStrayId, requestOf, write } from '../write.ts';
import { presentAwaiting, presentPlaced } from './present-hold.ts';

type Response = Omit<MessageInitShape<typeof CreatePreauthorizationResponseSchema>, '$typeName' | '$unknown'>;

/**
 * Places a hold (docs/product.md, "Holds"): stored first (INSERT_HOLDS), then the processor is asked, then its outcome
 * is settled (SETTLE_HOLDS). Without a token the processor opens a page instead, on which the customer places it; with
 * one it may, when the issuer asks for authentication and the call names a returnUrl. What the processor did not answer
 * stays UNKNOWN until an inquiry settles it.
 */
export const createPreauthorization: Method<'createPreauthorization'> = (core, request, context) =>
  placeHold(core, request, context);

/** The differences of a renewal from the placing of a new hold. */
export interface Renewal {
  /** The old hold's requestId, and the hash of its handle. */
  readonly renews: string;
  readonly idHash: Buffer;
  /** The business fields of the call; without an amount it is for what remained. */
  readonly fields: Fields & { readonly amount: bigint | undefined };
  readonly refusal: HoldfastError | undefined;
}

/** Places a hold, for itself or to renew another one. */
export async function placeHold(
  core: Core,
  request: CreatePreauthorizationRequest,
  context: HandlerContext,
  renewal?: Renewal,
): Promise<Response> {
  const { merchantId } = request;
  const contract = await contractOf(core, merchantId);
  const fields = businessFields(request);
  // A checkout always has its customer present.
  const defaults = renewal ? {} : { customerPresent: request.tokenId === undefined };
  const claim = claimOf(request.idempotencyKey, 'HOLD', renewal?.fields ?? fields, defaults);
  const call = { ...requestOf(core, request, context), merchantId, claim, ...wordsIn(request) };
  const { requestId, patience } = call;
  const hold = newHold(core, request, contract, call, renewal?.renews, await initiatedBy(core, request));
  const compared = renewal ? { ...fields, amount: renewal.fields.amount } : fields;
  const processor = core.processors.of(hold);
  return write<Response>(core, {
    call,
    request: { kind: 'HOLD', requestId, hold: { ...hold, ...claim }, renewedHash: renewal?.idHash, patience },
    refusal: refuseStrayId(request) ?? renewal?.refusal ?? check(request, contract, processor, call.at),
    processor: hold.processor,
    agrees: (id) => isOf(core, id, compared),
    answers: {
      first: (first) => answerAgain(core, first),
      now({ hold: written }) {
        assert(written, 'what is placed is a hold');
        return firstAnswer(core, written);
      },
      unknown: (id) => unknown(request, id),
    },
  });
}

type Initiated = Pick<HoldInput, 'merchantReason' | 'sentNetworkTransactionId'>;

/** Why the merchant initiates it, and the network transaction id to send: the call's, or of the customer's own hold. */
async function initiatedBy({ database }: Core, request: CreatePreauthorizationRequest): Promise<Initiated> {
  const { merchantInitiated, merchantId, tokenId, userId } = request;
  if (!merchantInitiated) return {};
  const { reason, networkTransactionId: given } = merchantInitiated;
  const known = given || (await findNetworkTransaction(database.query, { merchantId, tokenId: tokenId ?? '', userId }));
  return { merchantReason: REASONS[reason], sentNetworkTransactionId: known };
}

const REASONS = Object.fromEntries(MERCHANT_REASONS.map((reason) => [MerchantReason[reason], reason])) as Partial<
  Record<MerchantReason, (typeof MERCHANT_REASONS)[number]>
>;

/** Returns the answer from the stored fields that never change. */
function answerAgain(core: Core, first: First) {
  const { requestId } = first;
  return answerKnown<Response>(
    core,
    first,
    (id) => unknown({}, id),
    async () => {
      const row = await findHold(core.database.query, requestId);
      assert(row, 'what is answered was stored');
      const state = stateOf(row);
      await demandAnswerable(core, first, { ...row, state });
      return state === 'OK' ? firstAnswer(core, row) : unknown(row, requestId);
    },
  );
}

/** Returns whether a hold has the fields of a call. */
async function isOf({ database: { query } }: Core, requestId: string, fields: Fields): Promise<boolean> {
  const row = await findHold(query, requestId);
  return row !== undefined && agreeing(businessFields({ ...row, amount: row.amountAsked }), fields);
}

/** The state of the request; OK = it got its first answer, whatever has happened to the hold since. */
function stateOf(hold: HoldRow): SubmissionState {
  if (hasPage(hold) || hold.placedAt != null) return 'OK';
  if (hold.phase === 'FAILED') return 'KO';
  return hold.phase === 'AUTHORIZING' || hold.phase === 'AWAITING_CHECKOUT' ? 'PENDING' : 'UNKNOWN';
}

/** Returns whether its customer was sent to a page. */
function hasPage(hold: WrittenHold): boolean {
  return hold.checkoutUrlCiphertext != null;
}

function firstAnswer({ cipher }: Core, hold: WrittenHold): Response {
  return hasPage(hold)
    ? { preauthorization: presentAwaiting(hold, cipher), state: OperationState.PENDING }
    : { preauthorization: presentPlaced(hold, cipher), state: OperationState.OK };
}

/** The answer while it is not known whether the hold is placed, or where its checkout is. */
function unknown(hold: { readonly tokenId?: string | null | undefined }, requestId: string): Response {
  const phase = hold.tokenId == null ? HoldPhase.AWAITING_CHECKOUT : HoldPhase.UNKNOWN;
  return {
    preauthorization: { requestId, status: HoldStatus.IN_PROGRESS, phase },
    state: OperationState.UNKNOWN,
  };
}

function check(
  request: CreatePreauthorizationRequest,
  contract: MerchantRow,
  processor: Processor,
  now: Date,
): HoldfastError | undefined {
  const fields = new FieldCheck();
  fields.payment(request, contract);
  fields.taken(processor, request);
  fields.text('description', request.description);
  fields.returnUrl(request.returnUrl);
  stepUp(fields, request, processor);
  if (request.tokenId !== undefined && request.saveCard) {
    fields.add('save_card', 'belongs to a checkout: with token_id the card has its token already');
  }
  if (request.tokenId === undefined && request.customerPresent === false) {
    fields.add('customer_present', 'must be true at a checkout, where the customer enters a card');
  }
  if (request.merchantInitiated && (request.tokenId === undefined || request.customerPresent === true)) {
    fields.add('merchant_initiated', 'belongs to a hold with token_id and without the customer');
  }
  if (request.keepUntil && request.tokenId === undefined) fields.add('keep_until', NEEDS_TOKEN);
  fields.metadata(request.metadata);
  const refusal = fields.refusal();
  if (refusal) return refusal;
  const keepUntil = dateOf(request.keepUntil);
  if (keepUntil && !processor.renews()) return refusalOf('NOT_SUPPORTED');
  const periodEnd = new Date(now.getTime() + contract.holdPeriodS * 1_000);
  const expected = { field: 'expected_capture_at', at: dateOf(request.expectedCaptureAt) };
  const terms = { captureAt: dateOf(request.captureAt), releaseAt: dateOf(request.releaseAt), keepUntil };
  return (
    judgeTimes([expected, keptTime(keepUntil, now), ...endTimes(terms, periodEnd)], now) ??
    judgeUnsignedCapture(terms, contract)
  );
}

/** With a token the customer goes to a page only to be authenticated by its issuer. */
function stepUp(fields: FieldCheck, request: CreatePreauthorizationRequest, processor: Processor): void {
  const { tokenId, returnUrl, customerPresent } = request;
  const isToken = tokenId !== undefined;
  if (isToken && returnUrl !== undefined) {
    if (!customerPresent)
      fields.add('return_url', 'with token_id is for a customer who takes part: set customer_present');
    if (!processor.stepsUp()) fields.add('return_url', 'the processor sends no customer of a token_id to its issuer');
  }
  if (!isChallenge(request)) return;
  if (!isToken) fields.add('three_d_secure', 'belongs to a hold with token_id: the checkout authenticates by itself');
  else if (!customerPresent) fields.add('three_d_secure', 'challenge is for a customer who takes part');
  else if (returnUrl === undefined) fields.add('three_d_secure', 'challenge needs return_url');
}

function isChallenge({ threeDSecure }: CreatePreauthorizationRequest): boolean {
  return threeDSecure === ThreeDSecure.CHALLENGE;
}

function businessFields(hold: CreatePreauthorizationRequest | HoldRow): Record<string, unknown> {
  return {
    tokenId: hold.tokenId,
    amount: hold.amount,
    currency: hold.currency,
    terminalId: hold.terminalId,
    userId: hold.userId,
    merchantReference: hold.merchantReference,
    returnUrl: hold.returnUrl,
    saveCard: hold.saveCard,
    metadata: hold.metadata ?? {},
    description: hold.description,
    customerPresent: hold.customerPresent,
    challenge: ('threeDSecure' in hold ? isChallenge(hold) : 'challenge' in hold && hold.challenge) || undefined,
    ...('merchantInitiated' in hold && { merchantInitiated: hold.merchantInitiated && initiatedFields(hold) }),
    expectedCaptureAt: dateOf(hold.expectedCaptureAt)?.toISOString(),
    captureAt: dateOf(hold.captureAt)?.toISOString(),
    releaseAt: dateOf(hold.releaseAt)?.toISOString(),
    ...(hold.keepUntil && { keepUntil: dateOf(hold.keepUntil)?.toISOString() }),
  };
}

function initiatedFields({ merchantInitiated }: CreatePreauthorizationRequest) {
  const { reason, networkTransactionId } = merchantInitiated ?? {};
  return { reason, ...(networkTransactionId && { networkTransactionId }) };
}

function newHold(
  core: Core,
  request: CreatePreauthorizationRequest,
  contract: MerchantRow,
  { requestId, at, inquireAt }: ReturnType<typeof requestOf>,
  renews: string | undefined,
  initiated: Initiated,
): HoldInput {
  const handle = handleOf(core.cipher, requestId);
  assert(handle, 'the current key is known');
  const { idHash, idKey } = handle;
  const byToken = request.tokenId !== undefined;
  return {
    requestId,
    merchantId: request.merchantId,
    terminalId: request.terminalId,
    userId: request.userId,
    tokenId: request.tokenId,
    phase: byToken ? 'AUTHORIZING' : 'AWAITING_CHECKOUT',
    amount: request.amount,
    currency: request.currency,
    idHash,
    idKey,
    allowMultipleCaptures: contract.allowMultipleCaptures,
    notifyHolds: contract.notifyHolds,
    notifyExpiringHours: contract.notifyExpiringHours,
    holdPeriodS: contract.holdPeriodS,
    merchantReference: request.merchantReference,
    description: request.description,
    customerPresent: request.customerPresent ?? !byToken,
    ...initiated,
    expectedCaptureAt: dateOf(request.expectedCaptureAt),
    renews,
    captureAt: dateOf(request.captureAt),
    releaseAt: dateOf(request.releaseAt),
    keepUntil: dateOf(request.keepUntil),
    metadata: Object.keys(request.metadata).length > 0 ? { ...request.metadata } : undefined,
    returnUrl: request.returnUrl,
    saveCard: request.saveCard,
    challenge: isChallenge(request) || undefined,
    checkoutExpiresAt: byToken && request.returnUrl === undefined ? undefined : pageEnd(at),
    ...placeOf(core, contract),
    createdAt: at,
    inquireAt,
  };
}
