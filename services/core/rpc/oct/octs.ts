import type { CreateOctRequest } from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { HoldfastError } from '../../domain/refusal.ts';
import type { Processor } from '../../processor/processor.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import type { SubmissionRow } from '../../storage/submission/submission-row.ts';
import { type Method, placeOf } from '../core.ts';
import { agreesWith } from '../first-call.ts';
import { agreeing, claimOf } from '../idempotency.ts';
import { namedSubmission } from '../operation/read-operations.ts';
import { presentOct } from '../present.ts';
import { scopeOf } from '../server/caller.ts';
import { contractOf, FieldCheck } from '../server/check-fields.ts';
import { refuseUnsigned } from '../server/refuse-unsigned.ts';
import { wordsIn } from '../words.ts';
import { answersOf, refuseStrayId, requestOf, write } from '../write.ts';

/** Pays to a card (docs/product.md, "OCT"). */
export const createOct: Method<'createOct'> = async (core, request, context) => {
  const { merchantId } = request;
  const contract = await contractOf(core, merchantId);
  await refuseUnsigned(core, context, 'requireSignedOcts', merchantId);
  const fields = businessFields(request);
  const words = wordsIn(request);
  const claim = claimOf(request.idempotencyKey, 'OCT', { ...fields, ...words });
  const place = placeOf(core, contract);
  const oct = {
    ...requestOf(core, request, context),
    ...fields,
    ...words,
    ...place,
    kind: 'OCT',
    merchantId,
    claim,
  } as const;
  const isSame = (row: SubmissionRow) => agreeing(businessFields(row), fields);
  return write(core, {
    call: oct,
    request: oct,
    refusal: refuseStrayId(request) ?? check(request, contract, core.processors.of(place)),
    processor: place.processor,
    agrees: agreesWith(core, ['OCT'], isSame),
    answers: answersOf(core, {
      present: (row) => ({ oct: presentOct(row) }),
      unknown: (requestId) => ({ oct: { requestId, state: OperationState.UNKNOWN } }),
    }),
  });
};

/** Looks up an OCT. */
export const getOct: Method<'getOct'> = async (core, request, context) => {
  const oct = await namedSubmission(core, 'OCT', request.requestId, scopeOf(context, request.merchantId));
  return { oct: presentOct(oct) };
};

function check(request: CreateOctRequest, contract: MerchantRow, processor: Processor): HoldfastError | undefined {
  const fields = new FieldCheck();
  fields.payment(request, contract);
  fields.text('reason', request.reason);
  fields.metadata(request.metadata);
  fields.taken(processor, request);
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
