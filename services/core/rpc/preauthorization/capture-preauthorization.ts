import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CapturePreauthorizationRequest,
  type CapturePreauthorizationResponseSchema,
  HoldStatus,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { HoldBooks } from '../../domain/hold-rules.ts';
import type { Approved } from '../../domain/outcome.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { onHold, type SubmissionFacts } from '../../kinds/facts.ts';
import { hashOf } from '../../storage/cipher.ts';
import type { HoldRow } from '../../storage/hold/hold-row.ts';
import type { Core, Method } from '../core.ts';
import { claimOf } from '../idempotency.ts';
import { presentCapture } from '../present.ts';
import { roleOf, scopeOfChange } from '../server/caller.ts';
import { demandWords, presentWords, wordsIn } from '../words.ts';
import {
  agreesWith,
  answerStored,
  demandOwnResult,
  type First,
  findFirst,
  findFirstUnstored,
  refuseStrayId,
  requestOf,
  sendAndSettle,
  storedOrLost,
} from '../write.ts';
import { demandHandle, namedHold } from './read-preauthorizations.ts';

type Response = MessageInitShape<typeof CapturePreauthorizationResponseSchema>;

/**
 * Charges a hold (docs/product.md, "Captures"). The amount is judged and reserved by one statement (STORE_SUBMISSIONS),
 * the processor is asked, and its outcome is settled by another one (SETTLE_SUBMISSIONS). Token, merchant, terminal and
 * user are those of the hold.
 */
export const capturePreauthorization: Method<'capturePreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  const idHash = await idHashOf(core, request, context, merchantId);
  await refuseUnsigned(core, context, merchantId);
  await demandWords(core, request, async () => merchantId ?? (await namedHold(core, request, undefined)).merchantId);
  const words = wordsIn(request);
  const { amountToCapture: amount, finalCapture, currency } = request;
  const fields = { preauthorization: idHash.toString('hex'), amount, finalCapture, ...words };
  const claim = claimOf(request.idempotencyKey, 'CAPTURE', fields);
  const capture = {
    ...requestOf(core, request, context),
    kind: 'CAPTURE',
    merchantId,
    claim,
    idHash,
    amount,
    currency,
    finalCapture,
    ...words,
  } as const;
  const { requestId } = capture;
  const agreesOn = (on: HoldRow | undefined) =>
    agreesWith(core, capture, (row) => row.holdRequestId === on?.requestId && row.amount === amount);
  const stray = refuseStrayId(request);
  if (stray) {
    const on = await namedHold(core, request, merchantId);
    const ofMerchant = { ...capture, merchantId: on.merchantId };
    return answerAgain(core, await findFirstUnstored(core, ofMerchant, () => stray, agreesOn(on)), on);
  }

  const stored = await storedOrLost(capture, core.books.store(capture));
  if (stored === 'LOST') return unknown(requestId, undefined);
  const { hold } = stored;
  const first = await findFirst(core, capture, stored, agreesOn(hold));
  if (first) return answerAgain(core, first, hold);
  assert(hold, 'what is reserved has a hold');

  const answer = core.processors.of(hold).callers.waitOrLeave(hold.merchantId, async () => {
    try {
      const facts = {
        kind: 'CAPTURE',
        requestId,
        processorRequestId: stored.processorRequestId,
        ...onHold(hold),
        amount,
        finalCapture,
        ...words,
      } as const;
      const settled = await sendAndSettle(core, facts);
      if (settled.is === 'UNKNOWN') return unknown(requestId, hold);
      if (settled.is !== 'SETTLED') return await answerAgain(core, { requestId, replayed: false }, hold);
      const { outcome, at, books } = settled;
      return { capture: captured(facts, capture.at, outcome, at, books as HoldBooks) };
    } catch (error) {
      demandOwnResult(core, requestId, error);
      return unknown(requestId, hold);
    }
  });
  return (await answer) ?? unknown(requestId, hold);
};

/** The capture as it was just stored; nothing is read back. */
function captured(facts: SubmissionFacts, createdAt: Date, outcome: Approved, at: Date, books: HoldBooks) {
  return {
    requestId: facts.requestId,
    holdRequestId: facts.holdRequestId ?? '',
    state: OperationState.OK,
    amount: facts.amount,
    currency: facts.currency,
    finalCapture: (facts.finalCapture ?? false) || books.status === 'CAPTURED',
    captureDate: timestampFromDate(at),
    bankReference: outcome.bankReference,
    amountCaptured: facts.amount,
    amountRemaining: books.remaining,
    amountReleased: books.released,
    preauthorizationStatus: HoldStatus[books.status],
    processorReference: outcome.reference,
    ...presentWords(facts),
    createdAt: timestampFromDate(createdAt),
  };
}

/** The capture as it was first answered. */
function answerAgain(core: Core, first: First, hold: HoldRow | undefined): Promise<Response> {
  return answerStored<Response>(core, first, {
    present: (row) => ({ capture: presentCapture(row) }),
    unknown: (requestId) => unknown(requestId, hold),
  });
}

function unknown(requestId: string, hold: HoldRow | undefined): Response {
  return { capture: { requestId, holdRequestId: hold?.requestId ?? '', state: OperationState.UNKNOWN } };
}

/** A hold that is named by its handle is not read here: it is when the capture is judged. */
async function idHashOf(
  core: Core,
  request: CapturePreauthorizationRequest,
  context: HandlerContext,
  merchantId: string | undefined,
): Promise<Buffer> {
  if (request.preauthorizationId !== '') return hashOf(request.preauthorizationId);
  demandHandle(context, request);
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
