import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CreatePreauthorizationRequest,
  type CreatePreauthorizationResponseSchema,
  HoldPhase,
  HoldStatus,
  type PreauthorizationSchema,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { expiryOf } from '../../books/settle-holds-and-octs.ts';
import type { SubmissionState } from '../../domain/kinds.ts';
import type { Approved } from '../../domain/operation.ts';
import { ask } from '../../kinds/ask.ts';
import { HOLD, newHandle } from '../../kinds/hold.ts';
import { callOverAt } from '../../processor/processor.ts';
import type { HoldRow } from '../../storage/hold/hold.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import type { HoldInput } from '../../storage/hold/write-holds.ts';
import type { MerchantRow } from '../../storage/merchant/merchant.ts';
import { type Core, type Method, placeOf } from '../core.ts';
import { keyOf } from '../idempotency.ts';
import { patienceOf } from '../server/call-patience.ts';
import { contractOf, FieldCheck } from '../server/check-fields.ts';
import { answerAsked, answerNew, type NewWrite, requestIdOf } from '../write.ts';
import { openCheckout } from './open-checkout.ts';
import { inOrder, presentCheckout, presentPlaced } from './present-hold.ts';

type Response = MessageInitShape<typeof CreatePreauthorizationResponseSchema>;

/**
 * Places a hold (docs/product.md, "Holds"): stored first, then the processor is asked, then its answer is stored with the
 * operation and the delivery. What the processor did not answer stays UNKNOWN until an inquiry settles it.
 */
export const createPreauthorization: Method<'createPreauthorization'> = async (core, request, context) => {
  const contract = await contractOf(core, request.merchantId);
  const { merchantId } = request;
  const fields = businessFields(request);
  const key = keyOf(request.idempotencyKey, 'CREATE_PREAUTHORIZATION', fields);
  const { hold, preauthorizationId } = newHold(core, request, contract);
  const { requestId } = hold;
  const place = async (processorRequestId: string | null) => {
    const asked = await ask(core, HOLD, { ...hold, processorRequestId, amount: request.amount });
    return answerAsked(requestId, asked, (outcome, { at }) => ({
      preauthorization: { ...placed(hold, outcome, at), preauthorizationId },
      state: OperationState.OK,
    }));
  };
  const write: NewWrite<StoredHold, Response> = {
    ...{ requestId, merchantId, key, fields, fieldsOf: businessFields, place: hold },
    check: () => check(request, contract),
    insert: () => core.books.insertHold({ ...hold, key }, patienceOf(context)),
    async perform({ resumed, processorRequestId }) {
      const byPage = request.tokenId === undefined;
      const answer = await (byPage ? openCheckout(core, requestId, contract) : place(processorRequestId));
      // What is stored may be another core's, with a handle of its own.
      return resumed ? 'STORED' : answer;
    },
    async find(id) {
      const row = await findHold(core.database.query, id);
      return row && { ...row, state: stateOf(row) };
    },
    answerOf: (row) => (row.state === 'OK' ? firstAnswer(core, row) : unknown(row, row.requestId)),
    unknown: () => unknown(request, requestId),
  };
  return answerNew(core, write);
};

/** The hold as it was just stored; nothing is read back. */
function placed(hold: HoldInput, outcome: Approved, at: Date): MessageInitShape<typeof PreauthorizationSchema> {
  const { card } = outcome;
  return {
    requestId: hold.requestId,
    status: HoldStatus.IN_PROGRESS,
    phase: HoldPhase.AUTHORIZED,
    amount: BigInt(hold.amount),
    currency: hold.currency,
    amountRemaining: BigInt(hold.amount),
    merchantId: hold.merchantId,
    terminalId: hold.terminalId,
    userId: hold.userId,
    merchantReference: hold.merchantReference ?? '',
    metadata: inOrder(hold.metadata ?? {}),
    expiresAt: timestampFromDate(expiryOf(hold, at, outcome.expiresAt)),
    createdAt: timestampFromDate(new Date(hold.createdAt)),
    placedAt: timestampFromDate(at),
    ...(card && { paymentMethod: { type: 'card', ...card } }),
    generatedTokenId: outcome.generatedTokenId ?? '',
    processorReference: outcome.reference,
  };
}

interface StoredHold extends HoldRow {
  readonly state: SubmissionState;
}

/** Where the request stands; OK = it got its first answer, whatever has happened to the hold since. */
function stateOf(hold: HoldRow): SubmissionState {
  if (hasCheckout(hold) || hold.placedAt != null) return 'OK';
  if (hold.phase === 'FAILED') return 'KO';
  return hold.phase === 'AUTHORIZING' || hold.phase === 'AWAITING_CHECKOUT' ? 'PENDING' : 'UNKNOWN';
}

function hasCheckout(hold: HoldRow): boolean {
  return hold.tokenId == null && hold.checkoutUrlCiphertext != null;
}

function firstAnswer({ cipher }: Core, hold: HoldRow): Response {
  return hasCheckout(hold)
    ? { preauthorization: presentCheckout(hold, cipher), state: OperationState.PENDING }
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

function check(request: CreatePreauthorizationRequest, contract: MerchantRow): void {
  const fields = new FieldCheck();
  fields.currency('currency', request.currency, contract);
  fields.terminal('terminal_id', request.terminalId, contract);
  fields.text('user_id', request.userId);
  fields.text('merchant_reference', request.merchantReference);
  fields.text('token_id', request.tokenId);
  fields.url('return_url', request.returnUrl);
  if (request.tokenId !== undefined && request.returnUrl !== undefined) {
    fields.add('return_url', 'belongs to a checkout: there is none with token_id');
  }
  if (request.tokenId !== undefined && request.saveCard) {
    fields.add('save_card', 'belongs to a checkout: with token_id the card has its token already');
  }
  for (const [name, value] of Object.entries(request.metadata)) {
    fields.text('metadata', name);
    fields.text('metadata', value);
  }
  if (Buffer.byteLength(Object.entries(request.metadata).flat().join('')) > METADATA_BYTES) {
    fields.add('metadata', `must have at most ${METADATA_BYTES} bytes in UTF-8, names and values together`);
  }
  fields.refuse();
}

/** Room for 20 pairs of the largest size in ASCII. */
const METADATA_BYTES = 16 * 1024;

function businessFields(hold: CreatePreauthorizationRequest | HoldRow): Record<string, unknown> {
  const { tokenId, amount, currency, terminalId, userId, merchantReference, returnUrl, saveCard, metadata } = hold;
  return {
    ...{ tokenId, amount, currency, terminalId, userId, merchantReference, returnUrl, saveCard },
    metadata: metadata ?? {},
  };
}

/** Checkouts are asked for half an hour (docs/sandbox.md, "Checkout"). */
const CHECKOUT_MS = 30 * 60 * 1_000;

function newHold(core: Core, request: CreatePreauthorizationRequest, contract: MerchantRow) {
  const at = core.clock();
  const requestId = requestIdOf(request);
  const { preauthorizationId, ...kept } = newHandle(core.cipher, requestId);
  const byToken = request.tokenId !== undefined;
  const hold: HoldInput = {
    requestId,
    merchantId: request.merchantId,
    terminalId: request.terminalId,
    userId: request.userId,
    tokenId: request.tokenId,
    phase: byToken ? 'AUTHORIZING' : 'AWAITING_CHECKOUT',
    amount: request.amount.toString(),
    currency: request.currency,
    ...kept,
    allowMultipleCaptures: contract.allowMultipleCaptures,
    notifyHolds: contract.notifyHolds,
    holdPeriodS: contract.holdPeriodS,
    merchantReference: request.merchantReference,
    metadata: Object.keys(request.metadata).length > 0 ? { ...request.metadata } : undefined,
    returnUrl: request.returnUrl,
    saveCard: request.saveCard,
    checkoutExpiresAt: byToken ? undefined : new Date(at.getTime() + CHECKOUT_MS).toISOString(),
    ...placeOf(core, contract),
    createdAt: at.toISOString(),
    inquireAt: callOverAt(core.processors, at).toISOString(),
  };
  return { hold, preauthorizationId };
}
