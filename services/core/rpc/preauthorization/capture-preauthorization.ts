import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext, MethodImpl } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CapturePreauthorizationRequest,
  type CapturePreauthorizationResponseSchema,
  type CaptureSchema,
  HoldStatus,
  type PreauthorizationService,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { Capturing } from '../../books/reserve-capture.ts';
import type { HoldBooks } from '../../domain/hold.ts';
import { type Approved, isOk } from '../../domain/operation.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { settleAttempt } from '../../settlement/settle-attempt.ts';
import { CaptureEntity } from '../../storage/capture.ts';
import { hashOf } from '../../storage/cipher.ts';
import { HoldEntity, type HoldRow } from '../../storage/hold.ts';
import { patienceOf } from '../call-patience.ts';
import { roleOf, scopeOfChange } from '../caller.ts';
import { type Core, inquireAfter, inquireSoon } from '../core.ts';
import { findKeptOperation, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { answerRepeated, answerStored, requestIdOf, requestIdTaken, stored, tooLate } from '../intent.ts';
import { presentCapture } from '../present.ts';
import { keptRefusal, processorRefusal, refusalOf } from '../refuse.ts';
import { findHold } from './find-hold.ts';

type Response = MessageInitShape<typeof CapturePreauthorizationResponseSchema>;

/**
 * Charges a hold (docs/product.md, "Captures"): the amount is reserved in a committed transaction, then the
 * processor is asked, then its answer is stored. Token, merchant, terminal and user are those of the hold.
 */
export function capturePreauthorization(
  core: Core,
): MethodImpl<typeof PreauthorizationService.method.capturePreauthorization> {
  return async (request, context) => {
    const capturing = await capturingOf(core, request, context);
    const { requestId } = capturing;
    const reservation = await stored(core.books.reserveCapture(capturing));
    if (reservation === 'LOST') return unknown(requestId, '', false);
    if (!reservation.reserved) {
      const { refusal, hold } = reservation;
      if (refusal === 'LATE') throw tooLate();
      if (refusal === 'REPEATED') {
        const unresolved = () => unknown(requestId, hold?.requestId ?? '', false);
        return answerRepeated(core, requestId, unresolved, () => repeat(core, capturing, hold));
      }
      const kept = await findKept(core, capturing);
      if (kept !== undefined) return replay(core, kept, true);
      throw refusalOf(refusal === 'KEY_TAKEN' ? 'CAPTURE_IN_FLIGHT' : refusal);
    }
    const { hold } = reservation;
    return answerStored(
      core,
      requestId,
      () => unknown(requestId, hold.requestId, false),
      () => charge(core, capturing, hold),
    );
  };
}

/** Asks the processor to charge what was reserved, and stores its answer. */
async function charge(core: Core, capturing: Capturing, hold: HoldRow): Promise<Response> {
  core.reach('capture reserved');
  const outcome = await core.processor.capture(captureCall(capturing, hold));
  core.reach('capture answered');
  const { requestId, amount, finalCapture } = capturing;
  if (outcome.answer === 'UNKNOWN') {
    await core.books.markUnknown('capture', requestId, inquireSoon(core));
    return unknown(requestId, hold.requestId, false);
  }
  const holdKey = hold.idHash.toString('hex');
  const end = { requestId, holdRequestId: hold.requestId, holdKey, amount, finalCapture, outcome, at: core.clock() };
  const books = await core.books.settleCapture(end);
  if (!books) {
    // Recovery or an event came first: what it wrote stays, and is what is answered.
    await settleAttempt(core, 'capture', requestId, outcome);
    return replay(core, requestId, false);
  }
  if (!isOk(outcome)) throw processorRefusal(requestId, outcome, false);
  return { capture: captured(capturing, hold, outcome, end.at, books) };
}

/** The capture as it was just stored; nothing is read back. */
function captured(
  capturing: Capturing,
  hold: HoldRow,
  outcome: Approved,
  at: Date,
  books: HoldBooks,
): MessageInitShape<typeof CaptureSchema> {
  return {
    requestId: capturing.requestId,
    holdRequestId: hold.requestId,
    state: OperationState.OK,
    amount: capturing.amount,
    currency: hold.currency,
    finalCapture: capturing.finalCapture,
    captureDate: timestampFromDate(at),
    bankReference: outcome.bankReference,
    amountRemaining: books.remaining,
    amountReleased: books.released,
    preauthorizationStatus: HoldStatus[books.status],
    processorReference: outcome.reference,
    createdAt: timestampFromDate(capturing.at),
  };
}

/** The answer to a call under a requestId that is taken: the same call again, or another one, which is refused. */
async function repeat(core: Core, capturing: Capturing, hold: HoldRow | undefined): Promise<Response> {
  const { requestId, merchantId, amount, finalCapture } = capturing;
  const capture = await core.database.orm.em.fork().findOne(CaptureEntity, { requestId });
  const same =
    capture !== null &&
    capture.holdRequestId === hold?.requestId &&
    (merchantId === undefined || capture.merchantId === merchantId) &&
    capture.amount === amount &&
    capture.finalCapture === finalCapture;
  if (!same) throw requestIdTaken();
  return replay(core, requestId, false);
}

/** The answer of a stored capture: each of its fields was written once, with its result. */
async function replay(core: Core, requestId: string, replayed: boolean): Promise<Response> {
  const capture = await core.database.orm.em.fork().findOneOrFail(CaptureEntity, { requestId });
  if (capture.state === 'KO') throw await keptRefusal(core, requestId, replayed);
  if (capture.state === 'OK') return { capture: { ...presentCapture(capture), reversed: false }, replayed };
  if (capture.state === 'PENDING') refuseWhileRunning(core, capture);
  return unknown(requestId, capture.holdRequestId, replayed);
}

function unknown(requestId: string, holdRequestId: string, replayed: boolean): Response {
  return { capture: { requestId, holdRequestId, state: OperationState.UNKNOWN }, replayed };
}

async function findKept(core: Core, capturing: Capturing): Promise<string | undefined> {
  const merchantId = capturing.merchantId ?? (await merchantOf(core, capturing.idHash));
  return merchantId === undefined ? undefined : findKeptOperation(core, merchantId, capturing.key);
}

async function merchantOf(core: Core, idHash: Buffer): Promise<string | undefined> {
  const hold = await core.database.orm.em.fork().findOne(HoldEntity, { idHash });
  return hold?.merchantId;
}

async function capturingOf(
  core: Core,
  request: CapturePreauthorizationRequest,
  context: HandlerContext,
): Promise<Capturing> {
  const merchantId = scopeOfChange(context, request.merchantId);
  const idHash = await idHashOf(core, request, context, merchantId);
  await refuseUnsigned(core, context, merchantId, idHash);
  const at = core.clock();
  const { amountToCapture: amount, finalCapture } = request;
  const fields = { preauthorization: idHash.toString('hex'), amount, finalCapture };
  const key = keyOf(request.idempotencyKey, 'CAPTURE', fields);
  return {
    requestId: requestIdOf(request),
    ...{ idHash, merchantId, amount, finalCapture, key, at },
    patience: patienceOf(context),
    inquireAt: inquireAfter(core, at),
  };
}

/** Operators capture by requestId; everyone else by the sensitive handle, which proves that the hold was theirs. */
async function idHashOf(
  core: Core,
  request: CapturePreauthorizationRequest,
  context: HandlerContext,
  merchantId: string | undefined,
): Promise<Buffer> {
  if (request.preauthorizationId !== '') return hashOf(request.preauthorizationId);
  if (roleOf(context) !== 'operator') {
    throw new HoldfastError('FORBIDDEN', 'only operators may capture by request_id; use preauthorization_id');
  }
  return (await findHold(core, request, merchantId)).idHash;
}

/** The gateway has verified the merchant's signature, and operators are audited; an internal service has neither. */
async function refuseUnsigned(
  core: Core,
  context: HandlerContext,
  named: string | undefined,
  idHash: Buffer,
): Promise<void> {
  if (roleOf(context) !== 'internal') return;
  const merchantId = named ?? (await merchantOf(core, idHash));
  const contract = merchantId === undefined ? undefined : await core.contracts.find(merchantId);
  if (contract?.requireSignedCaptures) {
    throw new HoldfastError('SIGNATURE_REQUIRED', "this merchant's captures must come signed, through the gateway");
  }
}

function captureCall(capturing: Capturing, hold: HoldRow) {
  return {
    requestId: capturing.requestId,
    holdRequestId: hold.requestId,
    merchantId: hold.merchantId,
    terminalId: hold.terminalId,
    userId: hold.userId,
    tokenId: hold.tokenId ?? '',
    amount: capturing.amount,
    currency: hold.currency,
    finalCapture: capturing.finalCapture || !hold.allowMultipleCaptures,
  };
}
