import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { ReleasePreauthorizationResponseSchema } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { reserveHoldRelease } from '../../books/reserve-release.ts';
import { isOpen } from '../../domain/hold.ts';
import { identifierOf } from '../../domain/operation.ts';
import { ask } from '../../kinds/ask.ts';
import { RELEASE } from '../../kinds/release.ts';
import { callOverAt } from '../../processor/processor.ts';
import type { HoldRow } from '../../storage/hold/hold.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import type { ReleaseRow } from '../../storage/release/release.ts';
import { findRelease } from '../../storage/release/release.ts';
import type { Core, Method } from '../core.ts';
import { keyOf } from '../idempotency.ts';
import { patienceOf } from '../server/call-patience.ts';
import { scopeOfChange } from '../server/caller.ts';
import { answerAsked, answerOnHold, type Reserved, requestIdOf, type Write } from '../write.ts';
import { namedHold } from './named-hold.ts';
import { presentHold } from './present-hold.ts';

type Response = MessageInitShape<typeof ReleasePreauthorizationResponseSchema>;

/** Gives back what remains of a hold, or cancels its open checkout: reserved first, then voided, then settled. */
export const releasePreauthorization: Method<'releasePreauthorization'> = async (core, request, context) => {
  const scope = scopeOfChange(context, request.merchantId);
  const hold = await namedHold(core, request, scope);
  const { requestId: holdRequestId, merchantId, processor, processorAccount } = hold;
  const requestId = requestIdOf(request);
  const key = keyOf(request.idempotencyKey, 'RELEASE', { hold: holdRequestId });
  const release = { requestId, holdRequestId, merchantId, processor, processorAccount, reason: 'RELEASED' } as const;
  const at = core.clock();
  const times = { at, inquireAt: callOverAt(core.processors, at), patience: patienceOf(context) };
  const isOfHold = (row: ReleaseRow) => row.holdRequestId === holdRequestId;
  const write: Write<ReleaseRow, Reserved, Response> = {
    ...{ requestId, merchantId, key },
    store: () => reserveHoldRelease(core.books, { ...release, ...times, merchantId: scope, key }),
    async perform({ processorRequestId }) {
      const voided = { ...release, authorizationRequestId: identifierOf(hold), processorRequestId };
      return answerAsked(requestId, await ask(core, RELEASE, voided));
    },
    find: (id) => findRelease(core.database.query, id),
    isSame: (row) => isOfHold(row) && row.reason === 'RELEASED',
    agrees: isOfHold,
    answerOf: (row) => (row.state === 'OK' ? released(core, row) : unknown(row)),
    unknown: () => unknown(release),
  };
  return answerOnHold(core, write);
};

/** The hold as it was right after the release, whatever has happened to it since: the first answer. */
async function released(core: Core, release: ReleaseRow): Promise<Response> {
  const { requestId, holdRequestId } = release;
  const hold = await findHold(core.database.query, holdRequestId);
  assert(hold, 'a release has a hold');
  const preauthorization = presentHold(holdAfter(hold, release), core.cipher);
  return { preauthorization, requestId, state: OperationState.OK };
}

function holdAfter(hold: HoldRow, release: ReleaseRow): HoldRow {
  const { capturedAfter, remainingAfter, releasedAfter, reversedAfter, statusAfter, frozenAfter } = release;
  assert(statusAfter != null && frozenAfter != null, 'a release that is done kept the hold');
  const isClosed = !isOpen({ status: statusAfter });
  return {
    ...hold,
    status: statusAfter,
    captured: capturedAfter ?? 0n,
    inFlight: 0n,
    remaining: remainingAfter ?? 0n,
    released: releasedAfter ?? 0n,
    reversed: reversedAfter ?? 0n,
    releaseReason: isClosed && statusAfter !== 'FAILED' && releasedAfter !== 0n ? 'RELEASED' : null,
    frozen: frozenAfter,
    closedAt: isClosed ? hold.closedAt : null,
  };
}

function unknown({ requestId, holdRequestId }: Pick<ReleaseRow, 'requestId' | 'holdRequestId'>): Response {
  return { preauthorization: { requestId: holdRequestId }, requestId, state: OperationState.UNKNOWN };
}
