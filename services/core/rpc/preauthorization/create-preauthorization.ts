import { randomBytes } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CreatePreauthorizationRequest,
  type CreatePreauthorizationResponseSchema,
  HoldPhase,
  HoldStatus,
  type PreauthorizationSchema,
  type PreauthorizationService,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { expiryOf } from '../../books/settle-hold.ts';
import { type Approved, isOk, type Outcome } from '../../domain/operation.ts';
import { hashOf } from '../../storage/cipher.ts';
import type { KeyInput } from '../../storage/claim-key.ts';
import { HoldEntity, type HoldRow } from '../../storage/hold.ts';
import type { HoldInput } from '../../storage/insert-holds.ts';
import type { MerchantRow } from '../../storage/merchant.ts';
import { contractOf, FieldCheck } from '../check-fields.ts';
import { type Core, inquireAfter, inquireSoon } from '../core.ts';
import { findKeptOperation, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { openCheckoutUrl, presentHold } from '../present.ts';
import { keptRefusal, processorRefusal } from '../refuse.ts';
import { openCheckout } from './open-checkout.ts';

type Response = MessageInitShape<typeof CreatePreauthorizationResponseSchema>;

/**
 * Places a hold (seed, "POST /preauthorization"): stored first, then the processor is asked, then its answer is stored with the
 * operation and the delivery. What the processor did not answer stays UNKNOWN until an inquiry settles it.
 */
export function createPreauthorization(
  core: Core,
): MethodImpl<typeof PreauthorizationService.method.createPreauthorization> {
  return async (request) => {
    const contract = await contractOf(core, request.merchantId);
    check(request, contract);
    const key = keyOf(request.idempotencyKey, 'CREATE_PREAUTHORIZATION', businessFields(request));
    const { hold, preauthorizationId } = newHold(core, request, contract, key);
    if (!(await core.books.insertHold(hold))) return replay(core, request.merchantId, key);
    core.reach('hold stored');
    if (request.tokenId === undefined) return openCheckout(core, hold.requestId, contract);
    const outcome = await core.processor.authorize({
      requestId: hold.requestId,
      merchantId: request.merchantId,
      terminalId: request.terminalId,
      userId: request.userId,
      tokenId: request.tokenId,
      amount: request.amount,
      currency: request.currency,
    });
    core.reach('hold answered');
    return settle(core, hold, preauthorizationId, outcome);
  };
}

async function settle(core: Core, hold: HoldInput, preauthorizationId: string, outcome: Outcome): Promise<Response> {
  const { requestId } = hold;
  if (outcome.answer === 'UNKNOWN') {
    await core.books.markUnknown('hold', requestId, inquireSoon(core));
    return unknown(requestId);
  }
  const at = core.clock();
  const facts = { ...hold, amount: BigInt(hold.amount) };
  if (!(await core.books.settleHold({ hold: facts, outcome, at })))
    return replay(core, hold.merchantId, undefined, requestId);
  if (!isOk(outcome)) throw processorRefusal(requestId, outcome, false);
  return { preauthorization: { ...placed(hold, outcome, at), preauthorizationId }, state: OperationState.OK };
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
    metadata: hold.metadata ?? {},
    expiresAt: timestampFromDate(expiryOf(hold, at, outcome.expiresAt)),
    createdAt: timestampFromDate(new Date(hold.createdAt)),
    placedAt: timestampFromDate(at),
    ...(card && { paymentMethod: { type: 'card', ...card } }),
    generatedTokenId: outcome.generatedTokenId ?? '',
    processorReference: outcome.reference,
  };
}

/** The first answer again, from what is stored of the operation. */
async function replay(core: Core, merchantId: string, key: KeyInput | undefined, known?: string): Promise<Response> {
  const requestId = known ?? (await findKeptOperation(core, merchantId, key));
  const row = await core.database.orm.em.fork().findOneOrFail(HoldEntity, { requestId: requestId ?? '' });
  const replayed = known === undefined;
  if (row.tokenId == null) return await replayCheckout(core, row, replayed);
  if (row.placedAt != null) {
    return { preauthorization: asPlaced(presentHold(row, core.cipher), row), state: OperationState.OK, replayed };
  }
  if (row.phase === 'FAILED') throw await keptRefusal(core, row.requestId, replayed);
  if (row.phase === 'AUTHORIZING') refuseWhileRunning(core, row);
  return { ...unknown(row.requestId), replayed };
}

async function replayCheckout(core: Core, row: HoldRow, replayed: boolean): Promise<Response> {
  if (row.checkoutUrlCiphertext == null) {
    if (row.phase === 'FAILED') throw await keptRefusal(core, row.requestId, replayed);
    refuseWhileRunning(core, row);
    return { ...unknown(row.requestId), replayed };
  }
  const preauthorization = {
    ...presentHold(row, core.cipher),
    preauthorizationId: '',
    status: HoldStatus.IN_PROGRESS,
    phase: HoldPhase.AWAITING_CHECKOUT,
    checkoutUrl: openCheckoutUrl(row, core.cipher),
  };
  return { preauthorization, state: OperationState.PENDING, replayed };
}

/** A hold as it was when it was placed, whatever has happened to it since. */
function asPlaced(hold: ReturnType<typeof presentHold>, row: HoldRow): Partial<ReturnType<typeof presentHold>> {
  const { closedAt: _, releaseReason: __, ...rest } = hold;
  return {
    ...rest,
    status: HoldStatus.IN_PROGRESS,
    amountCaptured: 0n,
    amountInFlight: 0n,
    amountRemaining: row.amount,
    amountReleased: 0n,
    amountReversed: 0n,
    frozen: false,
  };
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

function businessFields(request: CreatePreauthorizationRequest): Record<string, unknown> {
  const { tokenId, amount, currency, terminalId, userId, merchantReference, returnUrl, saveCard, metadata } = request;
  return { tokenId, amount, currency, terminalId, userId, merchantReference, returnUrl, saveCard, metadata };
}

/** Checkouts stay open for half an hour (PRODUCT section 11). */
const CHECKOUT_MS = 30 * 60 * 1_000;

function newHold(core: Core, request: CreatePreauthorizationRequest, contract: MerchantRow, key: KeyInput | undefined) {
  const at = core.clock();
  const requestId = uuidv7();
  const preauthorizationId = `pre_${randomBytes(24).toString('base64url')}`;
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
    idHash: hashOf(preauthorizationId).toString('hex'),
    idCiphertext: core.cipher.seal(preauthorizationId, `preauthorization:${requestId}`).toString('hex'),
    allowMultipleCaptures: contract.allowMultipleCaptures,
    notifyHolds: contract.notifyHolds,
    holdPeriodS: contract.holdPeriodS,
    merchantReference: request.merchantReference,
    metadata: Object.keys(request.metadata).length > 0 ? { ...request.metadata } : undefined,
    returnUrl: request.returnUrl,
    saveCard: request.saveCard,
    checkoutExpiresAt: byToken ? undefined : new Date(at.getTime() + CHECKOUT_MS).toISOString(),
    createdAt: at.toISOString(),
    inquireAt: inquireAfter(core, at).toISOString(),
    key,
  };
  return { hold, preauthorizationId };
}
