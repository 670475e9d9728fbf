import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import type {
  CreateOctRequest,
  CreateOctResponseSchema,
  OctService,
} from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { OctEnd } from '../../books/settle-oct.ts';
import { isOk } from '../../domain/operation.ts';
import { settleAttempt } from '../../settlement/settle-attempt.ts';
import type { MerchantRow } from '../../storage/merchant.ts';
import { OctEntity, type OctRow } from '../../storage/oct.ts';
import { patienceOf } from '../call-patience.ts';
import { contractOf, FieldCheck } from '../check-fields.ts';
import { type Core, inquireAfter, inquireSoon } from '../core.ts';
import { checkUnlessKept, findKeptOperation, fingerprintOf, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { answerRepeated, answerStored, requestIdOf, requestIdTaken, stored, tooLate } from '../intent.ts';
import { presentOct } from '../present.ts';
import { keptRefusal, processorRefusal } from '../refuse.ts';

type Response = MessageInitShape<typeof CreateOctResponseSchema>;

/** Pays to a card (docs/product.md, "OCT"), under the discipline of holds: stored, asked, settled. */
export function createOct(core: Core): MethodImpl<typeof OctService.method.createOct> {
  return async (request, context) => {
    const { merchantId } = request;
    const contract = await contractOf(core, merchantId);
    const key = keyOf(request.idempotencyKey, 'CREATE_OCT', businessFields(request));
    const kept = await checkUnlessKept(core, merchantId, key, () => check(request, contract));
    if (kept !== undefined) return replay(core, kept, true);
    const at = core.clock();
    const oct = { ...businessFields(request), merchantId, requestId: requestIdOf(request) };
    const { requestId } = oct;
    const times = { createdAt: at.toISOString(), inquireAt: inquireAfter(core, at).toISOString() };
    const input = { ...oct, ...times, amount: oct.amount.toString(), key };
    const outcome = await stored(core.books.insertOct(input, patienceOf(context)));
    if (outcome === 'LATE') throw tooLate();
    if (outcome === 'KEY_TAKEN') return replay(core, (await findKeptOperation(core, merchantId, key)) ?? '', true);
    const unresolved = () => unknown(requestId, false);
    if (outcome === 'LOST') return unresolved();
    if (outcome === 'REPEATED')
      return answerRepeated(core, requestId, unresolved, () => repeat(core, request, requestId));
    return answerStored(core, requestId, unresolved, () => pay(core, oct));
  };
}

/** Asks the processor to pay a stored OCT, and stores its answer. */
async function pay(core: Core, oct: OctEnd['oct'] & { readonly tokenId: string }): Promise<Response> {
  const { requestId } = oct;
  core.reach('oct stored');
  const outcome = await core.processor.credit(oct);
  core.reach('oct answered');
  if (outcome.answer === 'UNKNOWN') {
    await core.books.markUnknown('oct', requestId, inquireSoon(core));
    return unknown(requestId, false);
  }
  if (!(await core.books.settleOct({ oct, outcome, at: core.clock() }))) {
    // Recovery or an event came first: what it wrote stays, and is what is answered.
    await settleAttempt(core, 'oct', requestId, outcome);
    return replay(core, requestId, false);
  }
  if (!isOk(outcome)) throw processorRefusal(requestId, outcome, false);
  return replay(core, requestId, false);
}

/** The answer to a call under a requestId that is taken: the same call again, or another one, which is refused. */
async function repeat(core: Core, request: CreateOctRequest, requestId: string): Promise<Response> {
  const { merchantId } = request;
  const row = await core.database.orm.em.fork().findOne(OctEntity, { requestId, merchantId });
  const same = row && fingerprintOf(businessFields(row)) === fingerprintOf(businessFields(request));
  if (!same) throw requestIdTaken();
  return replay(core, requestId, false);
}

/** The answer to a stored OCT's request: each of its fields was written once, with its result. */
async function replay(core: Core, requestId: string, replayed: boolean): Promise<Response> {
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

function businessFields(oct: CreateOctRequest | OctRow) {
  const { tokenId, amount, currency, terminalId, userId, merchantReference } = oct;
  return { tokenId, amount, currency, terminalId, userId, merchantReference: merchantReference ?? undefined };
}
