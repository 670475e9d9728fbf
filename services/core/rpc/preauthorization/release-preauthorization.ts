import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type {
  PreauthorizationService,
  ReleasePreauthorizationResponseSchema,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { isOk } from '../../domain/operation.ts';
import { settleAttempt } from '../../settlement/settle-attempt.ts';
import { HoldEntity, type HoldRow } from '../../storage/hold.ts';
import { ReleaseEntity } from '../../storage/release.ts';
import { patienceOf } from '../call-patience.ts';
import { scopeOfChange } from '../caller.ts';
import { type Core, inquireAfter, inquireSoon } from '../core.ts';
import { findKeptOperation, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { answerRepeated, answerStored, requestIdOf, requestIdTaken, stored, tooLate } from '../intent.ts';
import { presentHold } from '../present.ts';
import { keptRefusal, processorRefusal, refusalOf } from '../refuse.ts';
import { findHold } from './find-hold.ts';

type Response = MessageInitShape<typeof ReleasePreauthorizationResponseSchema>;

/** Gives back what remains of a hold, or cancels its open checkout: reserved first, then voided, then settled. */
export function releasePreauthorization(
  core: Core,
): MethodImpl<typeof PreauthorizationService.method.releasePreauthorization> {
  return async (request, context) => {
    const merchantId = scopeOfChange(context, request.merchantId);
    const hold = await findHold(core, request, merchantId);
    const key = keyOf(request.idempotencyKey, 'RELEASE', { hold: hold.requestId });
    const at = core.clock();
    const requestId = requestIdOf(request);
    const reservation = await stored(
      core.books.reserveRelease({
        requestId,
        holdRequestId: hold.requestId,
        merchantId,
        reason: 'RELEASED',
        key,
        patience: patienceOf(context),
        at,
        inquireAt: inquireAfter(core, at),
      }),
    );
    const unresolved = () => unknown(requestId, hold.requestId, false);
    if (reservation === 'LOST') return unresolved();
    if (!reservation.reserved) {
      const { refusal } = reservation;
      if (refusal === 'LATE') throw tooLate();
      if (refusal === 'REPEATED') {
        return answerRepeated(core, requestId, unresolved, () => repeat(core, requestId, hold));
      }
      const kept = await findKeptOperation(core, hold.merchantId, key);
      if (kept !== undefined) return replay(core, kept, true);
      throw refusalOf(refusal === 'KEY_TAKEN' ? 'CAPTURE_IN_FLIGHT' : refusal);
    }
    return answerStored(core, requestId, unresolved, () => giveBack(core, requestId, hold));
  };
}

/** Asks the processor to void what was reserved, and stores its answer. */
async function giveBack(core: Core, requestId: string, hold: HoldRow): Promise<Response> {
  core.reach('release reserved');
  const outcome = await core.processor.void(requestId, hold.requestId);
  core.reach('release answered');
  if (outcome.answer === 'UNKNOWN') {
    await core.books.markUnknown('release', requestId, inquireSoon(core));
    return unknown(requestId, hold.requestId, false);
  }
  if (!(await core.books.settleRelease({ requestId, outcome, at: core.clock() }))) {
    // Recovery or an event came first: what it wrote stays, and is what is answered.
    await settleAttempt(core, 'release', requestId, outcome);
    return replay(core, requestId, false);
  }
  if (!isOk(outcome)) throw processorRefusal(requestId, outcome, false);
  return replay(core, requestId, false);
}

/** The answer to a call under a requestId that is taken: the same call again, or another one, which is refused. */
async function repeat(core: Core, requestId: string, hold: HoldRow): Promise<Response> {
  const own = { requestId, holdRequestId: hold.requestId, reason: 'RELEASED' } as const;
  if (!(await core.database.orm.em.fork().findOne(ReleaseEntity, own))) throw requestIdTaken();
  return replay(core, requestId, false);
}

/** The answer of a stored release. A released hold does not change again, but for a late reversal or contradiction, which the answer leaves out. */
async function replay(core: Core, requestId: string, replayed: boolean): Promise<Response> {
  const em = core.database.orm.em.fork();
  const release = await em.findOneOrFail(ReleaseEntity, { requestId });
  if (release.state === 'KO') throw await keptRefusal(core, requestId, replayed);
  if (release.state === 'OK') {
    const hold = await em.findOneOrFail(HoldEntity, { requestId: release.holdRequestId });
    const preauthorization = { ...presentHold(hold, core.cipher), amountReversed: 0n, frozen: false };
    return { preauthorization, requestId, state: OperationState.OK, replayed };
  }
  if (release.state === 'PENDING') refuseWhileRunning(core, release);
  return unknown(requestId, release.holdRequestId, replayed);
}

function unknown(requestId: string, holdRequestId: string, replayed: boolean): Response {
  return { preauthorization: { requestId: holdRequestId }, requestId, state: OperationState.UNKNOWN, replayed };
}
