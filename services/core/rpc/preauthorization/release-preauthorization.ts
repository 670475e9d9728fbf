import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type {
  PreauthorizationService,
  ReleasePreauthorizationResponseSchema,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { reserveHoldRelease } from '../../books/reserve-release.ts';
import { identifierOf } from '../../domain/operation.ts';
import { ask } from '../../kinds/ask.ts';
import { RELEASE } from '../../kinds/release.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { findRelease } from '../../storage/release/release.ts';
import { type Core, inquireAfter } from '../core.ts';
import { findKeptOperation, keyOf, refuseWhileRunning } from '../idempotency.ts';
import { keptRefusal } from '../refuse.ts';
import { patienceOf } from '../server/call-patience.ts';
import { scopeOfChange } from '../server/caller.ts';
import { answerAsked, answerWrite, type Reserved, requestIdOf } from '../write.ts';
import { namedHold } from './named-hold.ts';
import { presentHold } from './present-hold.ts';

type Response = MessageInitShape<typeof ReleasePreauthorizationResponseSchema>;

/** Gives back what remains of a hold, or cancels its open checkout: reserved first, then voided, then settled. */
export function releasePreauthorization(
  core: Core,
): MethodImpl<typeof PreauthorizationService.method.releasePreauthorization> {
  return async (request, context) => {
    const merchantId = scopeOfChange(context, request.merchantId);
    const hold = await namedHold(core, request, merchantId);
    const key = keyOf(request.idempotencyKey, 'RELEASE', { hold: hold.requestId });
    const at = core.clock();
    const requestId = requestIdOf(request);
    const { processor, processorAccount } = hold;
    const place = { merchantId: hold.merchantId, processor, processorAccount };
    const authorizationRequestId = identifierOf(hold);
    const release = { ...place, requestId, holdRequestId: hold.requestId, reason: 'RELEASED' } as const;
    const times = { at, inquireAt: inquireAfter(core, at) };
    const isOfHold = async (id: string) =>
      (await findRelease(core.database.query, id))?.holdRequestId === hold.requestId;
    const write = {
      requestId,
      place,
      store: () =>
        reserveHoldRelease(core.books, { ...release, ...times, merchantId, key, patience: patienceOf(context) }),
      async isSame() {
        const stored = await findRelease(core.database.query, requestId);
        return stored?.holdRequestId === hold.requestId && stored.reason === 'RELEASED';
      },
      findKept: () => findKeptOperation(core, hold.merchantId, key, isOfHold),
      async perform({ processorRequestId }: Reserved) {
        const asked = await ask(core, RELEASE, { ...release, authorizationRequestId, processorRequestId });
        return answerAsked(write, asked, hold, () => replay(core, requestId, false));
      },
      replay: (id: string, replayed: boolean) => replay(core, id, replayed),
      unknown: () => unknown(requestId, hold.requestId, false),
    };
    return answerWrite(core, write);
  };
}

/** The answer of a stored release. A released hold does not change again, but for a late reversal or contradiction, which the answer leaves out. */
async function replay(core: Core, requestId: string, replayed: boolean): Promise<Response> {
  const { query } = core.database;
  const release = await findRelease(query, requestId);
  assert(release, 'a release that is answered was stored');
  if (release.state === 'KO') throw await keptRefusal(core, requestId, replayed);
  if (release.state === 'OK') {
    const hold = await findHold(query, release.holdRequestId);
    assert(hold, 'a release has a hold');
    const preauthorization = { ...presentHold(hold, core.cipher), amountReversed: 0n, frozen: false };
    return { preauthorization, requestId, state: OperationState.OK, replayed };
  }
  if (release.state === 'PENDING') refuseWhileRunning(core, release);
  return unknown(requestId, release.holdRequestId, replayed);
}

function unknown(requestId: string, holdRequestId: string, replayed: boolean): Response {
  return { preauthorization: { requestId: holdRequestId }, requestId, state: OperationState.UNKNOWN, replayed };
}
