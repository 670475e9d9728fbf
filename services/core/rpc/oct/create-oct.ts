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
import type { KeyInput } from '../../storage/claim-key.ts';
import { OctEntity } from '../../storage/oct.ts';
import { contractOf, FieldCheck } from '../check-fields.ts';
import { type Core, inquireAfter, inquireSoon } from '../core.ts';
import { findKeptOperation, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { presentOct } from '../present.ts';
import { keptRefusal, processorRefusal } from '../refuse.ts';

type Response = MessageInitShape<typeof CreateOctResponseSchema>;

/** Pays to a card (seed, "OCT"), under the discipline of holds: stored, asked, settled. */
export function createOct(core: Core): MethodImpl<typeof OctService.method.createOct> {
  return async (request) => {
    const contract = await contractOf(core, request.merchantId);
    const check = new FieldCheck();
    check.currency('currency', request.currency, contract);
    check.terminal('terminal_id', request.terminalId, contract);
    check.text('user_id', request.userId);
    check.text('merchant_reference', request.merchantReference);
    check.text('token_id', request.tokenId);
    check.refuse();
    const key = keyOf(request.idempotencyKey, 'CREATE_OCT', businessFields(request));
    const at = core.clock();
    const oct = { ...businessFields(request), merchantId: request.merchantId, requestId: uuidv7() };
    const times = { createdAt: at.toISOString(), inquireAt: inquireAfter(core, at).toISOString() };
    if (!(await core.books.insertOct({ ...oct, ...times, amount: oct.amount.toString(), key }))) {
      return replay(core, request.merchantId, key);
    }
    core.reach('oct stored');
    const outcome = await core.processor.credit(oct);
    core.reach('oct answered');
    if (outcome.answer === 'UNKNOWN') {
      await core.books.markUnknown('oct', oct.requestId, inquireSoon(core));
      return unknown(oct.requestId, false);
    }
    await core.books.settleOct({ oct, outcome, at: core.clock() });
    if (!isOk(outcome)) throw processorRefusal(oct.requestId, outcome, false);
    return stored(core, oct.requestId, false);
  };
}

async function replay(core: Core, merchantId: string, key: KeyInput | undefined): Promise<Response> {
  return stored(core, (await findKeptOperation(core, merchantId, key)) ?? '', true);
}

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

function businessFields(request: CreateOctRequest) {
  const { tokenId, amount, currency, terminalId, userId, merchantReference } = request;
  return { tokenId, amount, currency, terminalId, userId, merchantReference };
}
