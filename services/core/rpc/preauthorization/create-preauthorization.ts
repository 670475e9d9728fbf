import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CreatePreauthorizationRequest,
  type CreatePreauthorizationResponseSchema,
  HoldPhase,
  HoldStatus,
  type PreauthorizationSchema,
  type PreauthorizationService,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { expiryOf } from '../../books/settle-holds-and-octs.ts';
import type { Approved } from '../../domain/operation.ts';
import { ask } from '../../kinds/ask.ts';
import { HOLD, newHandle } from '../../kinds/hold.ts';
import type { HoldRow } from '../../storage/hold/hold.ts';
import type { HoldInput } from '../../storage/hold/insert-holds.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import type { KeyInput } from '../../storage/idempotency-key/idempotency-key.ts';
import type { MerchantRow } from '../../storage/merchant/merchant.ts';
import { type Core, inquireAfter, placeOf } from '../core.ts';
import {
  agreeing,
  checkUnlessKept,
  findKeptOperation,
  fingerprintOf,
  keyOf,
  refuseWhileRunning,
} from '../idempotency.ts';
import { keptRefusal } from '../refuse.ts';
import { patienceOf } from '../server/call-patience.ts';
import { contractOf, FieldCheck } from '../server/check-fields.ts';
import { answerAsked, answerWrite, type Inserted, inserted, requestIdOf } from '../write.ts';
import { noPageYet, openCheckout } from './open-checkout.ts';
import { inOrder, presentCheckout, presentPlaced } from './present-hold.ts';

type Response = MessageInitShape<typeof CreatePreauthorizationResponseSchema>;

/**
 * Places a hold (docs/product.md, "Holds"): stored first, then the processor is asked, then its answer is stored with the
 * operation and the delivery. What the processor did not answer stays UNKNOWN until an inquiry settles it.
 */
export function createPreauthorization(
  core: Core,
): MethodImpl<typeof PreauthorizationService.method.createPreauthorization> {
  return async (request, context) => {
    const contract = await contractOf(core, request.merchantId);
    const { merchantId } = request;
    const key = keyOf(request.idempotencyKey, 'CREATE_PREAUTHORIZATION', businessFields(request));
    const agrees = async (id: string) => agreeing(await findHold(core.database.query, id), businessFields(request));
    const kept = await checkUnlessKept(core, merchantId, key, agrees, () => check(request, contract));
    if (kept !== undefined) return replay(core, kept, true);
    const { hold, preauthorizationId } = newHold(core, request, contract, key);
    const { requestId } = hold;
    const write = {
      requestId,
      store: () => inserted(core.books.insertHold(hold, patienceOf(context))),
      isSame: () => isSame(core, request, requestId),
      place: hold,
      admits: () => core.processors.of(hold).admits(),
      findKept: () => findKeptOperation(core, merchantId, key, agrees),
      async perform({ resumed, processorRequestId }: Inserted) {
        const byPage = request.tokenId === undefined;
        const answer = await (byPage ? openCheckout(core, requestId, contract) : place(processorRequestId));
        // What is stored may be another core's, with a handle of its own.
        return resumed ? replay(core, requestId, false) : answer;
      },
      replay: (id: string, replayed: boolean) => replay(core, id, replayed),
      unknown: () => (request.tokenId === undefined ? noPageYet(requestId) : unknown(requestId)),
    };
    const place = async (processorRequestId: string | null) => {
      const asked = await ask(core, HOLD, { ...hold, processorRequestId, amount: request.amount });
      return answerAsked(write, asked, undefined, (outcome, { at }) => ({
        preauthorization: { ...placed(hold, outcome, at), preauthorizationId },
        state: OperationState.OK,
      }));
    };
    return answerWrite(core, write);
  };
}

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

async function isSame(core: Core, request: CreatePreauthorizationRequest, requestId: string): Promise<boolean> {
  const row = await findHold(core.database.query, requestId);
  if (row?.merchantId !== request.merchantId) return false;
  return fingerprintOf(businessFields(row)) === fingerprintOf(businessFields(request));
}

/** The answer to a stored hold's request: the first one again, from what was written once. */
async function replay(core: Core, requestId: string, replayed: boolean): Promise<Response> {
  const row = await findHold(core.database.query, requestId);
  assert(row, 'a hold that is answered was stored');
  if (row.tokenId == null && row.checkoutUrlCiphertext != null) {
    return { preauthorization: presentCheckout(row, core.cipher), state: OperationState.PENDING, replayed };
  }
  if (row.placedAt != null) {
    return { preauthorization: presentPlaced(row, core.cipher), state: OperationState.OK, replayed };
  }
  if (row.phase === 'FAILED') throw await keptRefusal(core, requestId, replayed);
  if (row.phase === 'AUTHORIZING' || row.phase === 'AWAITING_CHECKOUT') refuseWhileRunning(core, row);
  return { ...(row.tokenId == null ? noPageYet(requestId) : unknown(requestId)), replayed };
}

function unknown(requestId: string): Response {
  const preauthorization = { requestId, status: HoldStatus.IN_PROGRESS, phase: HoldPhase.UNKNOWN };
  return { preauthorization, state: OperationState.UNKNOWN };
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
  for (const [name, value] of Object.entries(request.metadata)) {
    fields.text('metadata', name);
    fields.text('metadata', value);
  }
  fields.refuse();
}

function businessFields(hold: CreatePreauthorizationRequest | HoldRow): Record<string, unknown> {
  const { tokenId, amount, currency, terminalId, userId, merchantReference, returnUrl, saveCard, metadata } = hold;
  return {
    ...{ tokenId, amount, currency, terminalId, userId, merchantReference, returnUrl, saveCard },
    metadata: metadata ?? {},
  };
}

/** Checkouts are asked for half an hour (docs/product.md, "Checkout"). */
const CHECKOUT_MS = 30 * 60 * 1_000;

function newHold(core: Core, request: CreatePreauthorizationRequest, contract: MerchantRow, key: KeyInput | undefined) {
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
    inquireAt: inquireAfter(core, at).toISOString(),
    key,
  };
  return { hold, preauthorizationId };
}
