import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  CreateOctRequest,
  CreateOctResponseSchema,
  OctService,
} from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { isOk } from '../../domain/operation.ts';
import { settleAttempt } from '../../settlement/settle-attempt.ts';
import type { MerchantRow } from '../../storage/merchant.ts';
import { OctEntity } from '../../storage/oct.ts';
import { contractOf, FieldCheck } from '../check-fields.ts';
import { type Core, inquireAfter, inquireSoon } from '../core.ts';
import { checkUnlessKept, findKeptOperation, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { presentOct } from '../present.ts';
import { keptRefusal, processorRefusal } from '../refuse.ts';

type Response = MessageInitShape<typeof CreateOctResponseSchema>;

/** Pays to a card (seed, "OCT"), under the discipline of holds: stored, asked, settled. */
export function createOct(core: Core): MethodImpl<typeof OctService.method.createOct> {
  return async (request) => {
    const { merchantId } = request;
    const contract = await contractOf(core, merchantId);
    const key = keyOf(request.idempotencyKey, 'CREATE_OCT', businessFields(request));
    const kept = await checkUnlessKept(core, merchantId, key, () => check(request, contract));
    if (kept !== undefined) return stored(core, kept, true);
    const at = core.clock();
    const oct = { ...businessFields(request), merchantId, requestId: uuidv7() };
    const times = { createdAt: at.toISOString(), inquireAt: inquireAfter(core, at).toISOString() };
    if (!(await core.books.insertOct({ ...oct, ...times, amount: oct.amount.toString(), key }))) {
      return stored(core, (await findKeptOperation(core, merchantId, key)) ?? '', true);
    }
    core.reach('oct stored');
    const outcome = await core.processor.credit(oct);
    core.reach('oct answered');
    if (outcome.answer === 'UNKNOWN') {
      await core.books.markUnknown('oct', oct.requestId, inquireSoon(core));
      return unknown(oct.requestId, false);
    }
    if (!(await core.books.settleOct({ oct, outcome, at: core.clock() }))) {
      // Recovery or an event came first: what it wrote stays, and is what is answered.
      await settleAttempt(core, 'oct', oct.requestId, outcome);
      return stored(core, oct.requestId, false);
    }
    if (!isOk(outcome)) throw processorRefusal(oct.requestId, outcome, false);
    return stored(core, oct.requestId, false);
  };
}

/** The answer to a stored OCT's request: each of its fields was written once, with its result. */
async function stored(core: Core, requestId: string, replayed: boolean): Promise<Response> {
  const oct = await core.database.orm.em.fork().findOneOrFail(OctEntity, { requestId });
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

function businessFields(request: CreateOctRequest) {
  const { tokenId, amount, currency, terminalId, userId, merchantReference } = request;
  return { tokenId, amount, currency, terminalId, userId, merchantReference };
}
