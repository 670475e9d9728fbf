import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import type {
  CreateOctRequest,
  CreateOctResponseSchema,
  OctService,
} from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { ask } from '../../kinds/ask.ts';
import { OCT } from '../../kinds/oct.ts';
import type { MerchantRow } from '../../storage/merchant/merchant.ts';
import type { OctRow } from '../../storage/oct/oct.ts';
import { findOct } from '../../storage/oct/oct.ts';
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
import { presentOct } from './present-oct.ts';

type Response = MessageInitShape<typeof CreateOctResponseSchema>;

/** Pays to a card (docs/product.md, "OCT"), under the discipline of holds: stored, asked, settled. */
export function createOct(core: Core): MethodImpl<typeof OctService.method.createOct> {
  return async (request, context) => {
    const { merchantId } = request;
    const contract = await contractOf(core, merchantId);
    const key = keyOf(request.idempotencyKey, 'CREATE_OCT', businessFields(request));
    const agrees = async (id: string) => agreeing(await findOct(core.database.query, id), businessFields(request));
    const kept = await checkUnlessKept(core, merchantId, key, agrees, () => check(request, contract));
    if (kept !== undefined) return replay(core, kept, true);
    const at = core.clock();
    const oct = { ...businessFields(request), ...placeOf(core, contract), merchantId, requestId: requestIdOf(request) };
    const times = { createdAt: at.toISOString(), inquireAt: inquireAfter(core, at).toISOString() };
    const input = { ...oct, ...times, amount: oct.amount.toString(), key };
    const { requestId } = oct;
    const write = {
      requestId,
      store: () => inserted(core.books.insertOct(input, patienceOf(context))),
      isSame: () => isSame(core, request, requestId),
      place: oct,
      admits: () => core.processors.of(oct).admits(),
      findKept: () => findKeptOperation(core, merchantId, key, agrees),
      async perform({ processorRequestId }: Inserted) {
        const asked = await ask(core, OCT, { ...oct, processorRequestId });
        return answerAsked(write, asked, undefined, () => replay(core, requestId, false));
      },
      replay: (id: string, replayed: boolean) => replay(core, id, replayed),
      unknown: () => unknown(requestId, false),
    };
    return answerWrite(core, write);
  };
}

async function isSame(core: Core, request: CreateOctRequest, requestId: string): Promise<boolean> {
  const row = await findOct(core.database.query, requestId);
  if (row?.merchantId !== request.merchantId) return false;
  return fingerprintOf(businessFields(row)) === fingerprintOf(businessFields(request));
}

/** The answer to a stored OCT's request: each of its fields was written once, with its result. */
async function replay(core: Core, requestId: string, replayed: boolean): Promise<Response> {
  const oct = await findOct(core.database.query, requestId);
  assert(oct, 'an OCT that is answered was stored');
  if (oct.state === 'KO') throw await keptRefusal(core, requestId, replayed);
  if (oct.state === 'OK') return { oct: presentOct(oct), replayed };
  if (oct.state === 'PENDING') refuseWhileRunning(core, oct);
  return unknown(requestId, replayed);
}

function unknown(requestId: string, replayed: boolean): Response {
  return { oct: { requestId, state: OperationState.UNKNOWN }, replayed };
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
