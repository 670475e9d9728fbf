import type { HandlerContext } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { CapturePreauthorizationRequest } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { isOtherCurrency } from '../../domain/hold-rules.ts';
import { hashOf } from '../../storage/cipher.ts';
import type { HoldRow } from '../../storage/hold/hold-row.ts';
import type { Core, Method } from '../core.ts';
import { agreesWith } from '../first-call.ts';
import { claimOf } from '../idempotency.ts';
import { presentCapture } from '../present.ts';
import { brokenStep } from '../refuse.ts';
import { scopeOfChange } from '../server/caller.ts';
import { refuseUnsigned } from '../server/refuse-unsigned.ts';
import { demandWords, wordsIn } from '../words.ts';
import { answersOf, refuseStrayId, requestOf, write } from '../write.ts';
import { demandHandle, namedHold } from './read-preauthorizations.ts';

/**
 * Charges a hold (docs/product.md, "Captures"). The amount is judged and reserved by one statement (STORE_SUBMISSIONS),
 * the processor is asked, and its outcome is settled by another one (SETTLE_SUBMISSIONS). Token, merchant, terminal and
 * user are those of the hold.
 */
export const capturePreauthorization: Method<'capturePreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  const idHash = await idHashOf(core, request, context, merchantId);
  await refuseUnsigned(core, context, 'requireSignedCaptures', merchantId);
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
  const stray = refuseStrayId(request);
  const mustRead = stray !== undefined || core.processors.mayBreakStep({ amount, currency });
  const named = mustRead ? await namedHold(core, request, merchantId) : undefined;
  const refusal = stray ?? (named && refuseStep(core, named, request));
  return write(core, {
    call: named ? { ...capture, merchantId: named.merchantId } : capture,
    request: capture,
    refusal,
    hold: named,
    agrees: (id, hold) =>
      agreesWith(core, ['CAPTURE'], (row) => row.holdRequestId === hold?.requestId && row.amount === amount)(id),
    answers: answersOf(core, {
      present: (row) => ({ capture: presentCapture(row) }),
      unknown: (requestId, hold) => {
        return { capture: { requestId, holdRequestId: hold?.requestId ?? '', state: OperationState.UNKNOWN } };
      },
    }),
  });
};

/** The books refuse another currency than the hold's. */
function refuseStep(core: Core, hold: HoldRow, { amountToCapture: amount, currency }: CapturePreauthorizationRequest) {
  if (isOtherCurrency(hold, currency)) return undefined;
  return brokenStep(core, hold, { field: 'amount_to_capture', amount, rest: hold.remaining });
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
