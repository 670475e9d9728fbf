import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CreateOctRequest, CreateOctResponseSchema } from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { ask } from '../../kinds/ask.ts';
import { OCT } from '../../kinds/oct.ts';
import { callOverAt } from '../../processor/processor.ts';
import type { MerchantRow } from '../../storage/merchant/merchant.ts';
import { findOct, type OctRow } from '../../storage/oct/oct.ts';
import { type Method, placeOf } from '../core.ts';
import { keyOf } from '../idempotency.ts';
import { presentOct } from '../present.ts';
import { patienceOf } from '../server/call-patience.ts';
import { contractOf, FieldCheck } from '../server/check-fields.ts';
import { answerAsked, answerNew, type NewWrite, requestIdOf } from '../write.ts';

type Response = MessageInitShape<typeof CreateOctResponseSchema>;

/** Pays to a card (docs/product.md, "OCT"), under the discipline of holds: stored, asked, settled. */
export const createOct: Method<'createOct'> = async (core, request, context) => {
  const { merchantId } = request;
  const contract = await contractOf(core, merchantId);
  const fields = businessFields(request);
  const key = keyOf(request.idempotencyKey, 'CREATE_OCT', fields);
  const requestId = requestIdOf(request);
  const oct = { ...fields, ...placeOf(core, contract), merchantId, requestId };
  const at = core.clock();
  const times = { createdAt: at.toISOString(), inquireAt: callOverAt(core.processors, at).toISOString() };
  const write: NewWrite<OctRow, Response> = {
    ...{ requestId, merchantId, key, fields, fieldsOf: businessFields, place: oct },
    check: () => check(request, contract),
    insert: () => core.books.insertOct({ ...oct, ...times, amount: oct.amount.toString(), key }, patienceOf(context)),
    async perform({ processorRequestId }) {
      return answerAsked(requestId, await ask(core, OCT, { ...oct, processorRequestId }));
    },
    find: (id) => findOct(core.database.query, id),
    answerOf: (row) => (row.state === 'OK' ? { oct: presentOct(row) } : unknown(row.requestId)),
    unknown: () => unknown(requestId),
  };
  return answerNew(core, write);
};

function unknown(requestId: string): Response {
  return { oct: { requestId, state: OperationState.UNKNOWN } };
}

function check(request: CreateOctRequest, contract: MerchantRow): void {
  const fields = new FieldCheck();
  fields.currency('currency', request.currency, contract);
  fields.terminal('terminal_id', request.terminalId, contract);
  fields.text('user_id', request.userId);
  fields.text('merchant_reference', request.merchantReference);
  fields.text('token_id', request.tokenId);
  fields.refuse();
}

function businessFields(oct: CreateOctRequest | OctRow) {
  const { tokenId, amount, currency, terminalId, userId, merchantReference } = oct;
  return { tokenId, amount, currency, terminalId, userId, merchantReference: merchantReference ?? undefined };
}
