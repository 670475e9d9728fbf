import assert from 'node:assert/strict';
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
import { hashOf } from '../../cipher.ts';
import type { HoldBooks } from '../../domain/hold.ts';
import type { Approved } from '../../domain/operation.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { ask } from '../../kinds/ask.ts';
import { CAPTURE } from '../../kinds/capture.ts';
import { findCapture } from '../../storage/capture/capture.ts';
import type { HoldRow } from '../../storage/hold/hold.ts';
import { findHoldByHandle } from '../../storage/hold/read-holds.ts';
import { type Core, inquireAfter } from '../core.ts';
import { findKeptOperation, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { keptRefusal } from '../refuse.ts';
import { patienceOf } from '../server/call-patience.ts';
import { isInScope, roleOf, scopeOfChange } from '../server/caller.ts';
import { answerAsked, answerWrite, type Reserved, requestIdOf } from '../write.ts';
import { namedHold } from './named-hold.ts';
import { presentCapture } from './present-capture.ts';

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
    const { requestId, amount, finalCapture } = capturing;
    const write = {
      requestId,
      store: () => core.books.reserveCapture(capturing),
      isSame: (hold: HoldRow | undefined) => isSame(core, capturing, hold),
      findKept: () => findKept(core, capturing),
      async perform({ hold, processorRequestId }: Reserved) {
        const { processor, processorAccount } = hold;
        const capture = { requestId, processorRequestId, processor, processorAccount, amount, finalCapture, hold };
        const asked = await ask(core, CAPTURE, capture);
        return answerAsked(write, asked, hold, (outcome, { settled, at }) => ({
          capture: captured(capturing, hold, outcome, at, settled),
        }));
      },
      replay: (id: string, replayed: boolean) => replay(core, id, replayed),
      unknown: (hold: HoldRow | undefined) => unknown(requestId, hold?.requestId ?? '', false),
    };
    return answerWrite(core, write);
  };
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

async function isSame(core: Core, capturing: Capturing, hold: HoldRow | undefined): Promise<boolean> {
  const { requestId, merchantId, amount, finalCapture } = capturing;
  const capture = await findCapture(core.database.query, requestId);
  return (
    capture !== undefined &&
    capture.holdRequestId === hold?.requestId &&
    isInScope(capture, merchantId) &&
    capture.amount === amount &&
    capture.finalCapture === finalCapture
  );
}

/** The answer of a stored capture: each of its fields was written once, with its result. */
async function replay(core: Core, requestId: string, replayed: boolean): Promise<Response> {
  const capture = await findCapture(core.database.query, requestId);
  assert(capture, 'a capture that is answered was stored');
  if (capture.state === 'KO') throw await keptRefusal(core, requestId, replayed);
  if (capture.state === 'OK')
    return { capture: { ...presentCapture(capture), reversed: false, amountReversed: 0n }, replayed };
  if (capture.state === 'PENDING') refuseWhileRunning(core, capture);
  return unknown(requestId, capture.holdRequestId, replayed);
}

function unknown(requestId: string, holdRequestId: string, replayed: boolean): Response {
  return { capture: { requestId, holdRequestId, state: OperationState.UNKNOWN }, replayed };
}

async function findKept(core: Core, capturing: Capturing): Promise<string | undefined> {
  const merchantId = capturing.merchantId ?? (await merchantOf(core, capturing.idHash));
  if (merchantId === undefined) return undefined;
  return findKeptOperation(core, merchantId, capturing.key, async (requestId) => {
    const capture = await findCapture(core.database.query, requestId);
    const hold = await findHoldByHandle(core.database.query, capturing.idHash);
    return capture?.amount === capturing.amount && capture.holdRequestId === hold?.requestId;
  });
}

async function merchantOf(core: Core, idHash: Buffer): Promise<string | undefined> {
  return (await findHoldByHandle(core.database.query, idHash))?.merchantId;
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
  return (await namedHold(core, request, merchantId)).idHash;
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
