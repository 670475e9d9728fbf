import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CreateOctRequest, CreateOctResponseSchema } from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { HoldfastError } from '../../domain/refusal.ts';
import { send } from '../../kinds/send-to-processor.ts';
import { settle } from '../../kinds/settle-outcome.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import type { SubmissionRow } from '../../storage/submission/submission-row.ts';
import { type Core, type Method, placeOf } from '../core.ts';
import { agreeing, claimOf } from '../idempotency.ts';
import { presentOct } from '../present.ts';
import { scopeOf } from '../server/caller.ts';
import { contractOf, FieldCheck } from '../server/check-fields.ts';
import {
  agreesWith,
  answerStored,
  demandOk,
  demandOwnResult,
  type First,
  findFirst,
  findFirstUnstored,
  namedSubmission,
  processorAway,
  requestOf,
  sentAs,
  storedOrLost,
} from '../write.ts';

type Response = MessageInitShape<typeof CreateOctResponseSchema>;

/** Pays to a card (docs/product.md, "OCT"): stored first, then the processor is asked, then its outcome is settled. */
export const createOct: Method<'createOct'> = async (core, request, context) => {
  const { merchantId } = request;
  const contract = await contractOf(core, merchantId);
  const fields = businessFields(request);
  const claim = claimOf(request.idempotencyKey, 'OCT', fields);
  const place = placeOf(core, contract);
  const oct = { ...requestOf(core, request, context), ...fields, ...place, kind: 'OCT', merchantId, claim } as const;
  const { requestId } = oct;
  const agrees = agreesWith(core, 'OCT', (row) => agreeing(businessFields(row), fields));

  const refusal = check(request, contract);
  if (refusal) return answerAgain(core, await findFirstUnstored(core, oct, () => refusal, agrees));
  const processor = core.processors.of(place);
  if (!processor.admits()) {
    return answerAgain(core, await findFirstUnstored(core, oct, () => processorAway(core, place.processor), agrees));
  }

  return processor.callers.wait(async () => {
    const stored = await storedOrLost(core.books.store(oct));
    if (stored === 'LOST') return unknown(requestId);
    const first = await findFirst(core, oct, stored, agrees);
    if (first) return answerAgain(core, first);
    try {
      const facts = { ...oct, processorRequestId: await sentAs(core, requestId, stored) };
      const outcome = await send(core, facts);
      const settled = await settle(core, facts, outcome);
      if (settled.is === 'UNKNOWN') return unknown(requestId);
      if (settled.is === 'SETTLED') demandOk(requestId, outcome);
      return await answerAgain(core, { requestId, replayed: false });
    } catch (error) {
      demandOwnResult(core, requestId, error);
      return unknown(requestId);
    }
  });
};

/** Looks up an OCT. */
export const getOct: Method<'getOct'> = async (core, request, context) => {
  const oct = await namedSubmission(core, 'OCT', request.requestId, scopeOf(context, request.merchantId));
  return { oct: presentOct(oct) };
};

function answerAgain(core: Core, first: First): Promise<Response> {
  return answerStored(core, first, unknown(first.requestId), (row) => ({ oct: presentOct(row) }));
}

function unknown(requestId: string): Response {
  return { oct: { requestId, state: OperationState.UNKNOWN } };
}

function check(request: CreateOctRequest, contract: MerchantRow): HoldfastError | undefined {
  const fields = new FieldCheck();
  fields.currency('currency', request.currency, contract);
  fields.terminal('terminal_id', request.terminalId, contract);
  fields.text('user_id', request.userId);
  fields.text('merchant_reference', request.merchantReference);
  fields.text('token_id', request.tokenId);
  return fields.refusal();
}

type OctFields = Pick<SubmissionRow, 'amount' | 'currency'> &
  Partial<Pick<SubmissionRow, 'tokenId' | 'terminalId' | 'userId' | 'merchantReference'>>;

function businessFields(oct: OctFields) {
  const { tokenId, amount, currency, terminalId, userId, merchantReference } = oct;
  return {
    tokenId: tokenId ?? '',
    amount,
    currency,
    terminalId: terminalId ?? '',
    userId: userId ?? '',
    merchantReference: merchantReference ?? undefined,
  };
}
