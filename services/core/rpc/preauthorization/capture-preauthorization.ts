import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CapturePreauthorizationRequest,
  type CapturePreauthorizationResponseSchema,
  type CaptureSchema,
  HoldStatus,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { Capturing } from '../../books/reserve-capture.ts';
import { hashOf } from '../../cipher.ts';
import type { HoldBooks } from '../../domain/hold.ts';
import type { Approved } from '../../domain/operation.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { ask } from '../../kinds/ask.ts';
import { CAPTURE } from '../../kinds/capture.ts';
import { callOverAt } from '../../processor/processor.ts';
import type { CaptureRow } from '../../storage/capture/capture.ts';
import { findCapture } from '../../storage/capture/capture.ts';
import type { HoldRow } from '../../storage/hold/hold.ts';
import type { Core, Method } from '../core.ts';
import { keyOf } from '../idempotency.ts';
import { presentCapture } from '../present.ts';
import { patienceOf } from '../server/call-patience.ts';
import { isInScope, roleOf, scopeOfChange } from '../server/caller.ts';
import { answerAsked, answerOnHold, type Reserved, requestIdOf, type Write } from '../write.ts';
import { namedHold } from './named-hold.ts';

type Response = MessageInitShape<typeof CapturePreauthorizationResponseSchema>;

/**
 * Charges a hold (docs/product.md, "Captures"): the amount is reserved in a committed transaction, then the
 * processor is asked, then its answer is stored. Token, merchant, terminal and user are those of the hold.
 */
export const capturePreauthorization: Method<'capturePreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  const idHash = await idHashOf(core, request, context, merchantId);
  await refuseUnsigned(core, context, merchantId);
  const at = core.clock();
  const requestId = requestIdOf(request);
  const { amountToCapture: amount, finalCapture } = request;
  const key = keyOf(request.idempotencyKey, 'CAPTURE', {
    preauthorization: idHash.toString('hex'),
    amount,
    finalCapture,
  });
  const capturing: Capturing = {
    ...{ requestId, idHash, merchantId, amount, finalCapture, key, at },
    patience: patienceOf(context),
    inquireAt: callOverAt(core.processors, at),
  };
  const agrees = (row: CaptureRow, hold: HoldRow | undefined) =>
    row.holdRequestId === hold?.requestId && row.amount === amount;
  const write: Write<CaptureRow, Reserved, Response> = {
    ...{ requestId, merchantId, key },
    store: () => core.books.reserveCapture(capturing),
    async perform({ hold, processorRequestId }) {
      const { processor, processorAccount } = hold;
      const capture = { requestId, processorRequestId, processor, processorAccount, amount, finalCapture, hold };
      return answerAsked(requestId, await ask(core, CAPTURE, capture), (outcome, { settled, at }) => ({
        capture: captured(capturing, hold, outcome, at, settled),
      }));
    },
    find: (id) => findCapture(core.database.query, id),
    isSame: (row, hold) => agrees(row, hold) && isInScope(row, merchantId) && row.finalCapture === finalCapture,
    agrees,
    answerOf: (row) =>
      row.state === 'OK'
        ? { capture: { ...presentCapture(row), reversed: false, amountReversed: 0n } }
        : unknown(row.requestId, row.holdRequestId),
    unknown: (hold) => unknown(requestId, hold?.requestId ?? ''),
  };
  return answerOnHold(core, write);
};

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

function unknown(requestId: string, holdRequestId: string): Response {
  return { capture: { requestId, holdRequestId, state: OperationState.UNKNOWN } };
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
async function refuseUnsigned(core: Core, context: HandlerContext, merchantId: string | undefined): Promise<void> {
  if (roleOf(context) !== 'internal' || merchantId === undefined) return;
  const contract = await core.contracts.find(merchantId);
  if (contract?.requireSignedCaptures) {
    throw new HoldfastError('SIGNATURE_REQUIRED', "this merchant's captures must come signed, through the gateway");
  }
}
