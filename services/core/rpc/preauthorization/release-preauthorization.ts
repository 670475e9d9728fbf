import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { ReleasePreauthorizationResponseSchema } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { isOpen } from '../../domain/hold.ts';
import type { SubmissionFacts } from '../../kinds/facts.ts';
import { send } from '../../kinds/send.ts';
import { settle } from '../../kinds/settle.ts';
import type { HoldRow } from '../../storage/hold/hold-row.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { reconcilingSince } from '../../storage/reconciling.ts';
import { findSubmission } from '../../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../../storage/submission/submission-row.ts';
import type { Core, Method } from '../core.ts';
import { claimOf } from '../idempotency.ts';
import { reconciling } from '../refuse.ts';
import { scopeOfChange } from '../server/caller.ts';
import {
  demandAnswerable,
  demandOk,
  demandOwnResult,
  demandRefusal,
  type First,
  findFirst,
  findFirstUnstored,
  requestOf,
  sentAs,
  storedOrLost,
} from '../write.ts';
import { namedHold } from './named-hold.ts';
import { presentHold } from './present-hold.ts';

type Response = MessageInitShape<typeof ReleasePreauthorizationResponseSchema>;

/** Gives back what remains of a hold, or cancels its open checkout: judged and reserved, then voided, then settled. */
export const releasePreauthorization: Method<'releasePreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  const hold = await namedHold(core, request, merchantId);
  const { requestId: holdRequestId, idHash, processor, processorAccount } = hold;
  const claim = claimOf(request.idempotencyKey, 'RELEASE', { hold: holdRequestId });
  const release = { ...requestOf(core, request, context), kind: 'RELEASE', merchantId, claim, idHash } as const;
  const { requestId } = release;

  const agrees = (id: string) => isOf(core, id, hold);
  // The customer may have paid, and that may be lost: then a capture may be, too. An inquiry will tell.
  if (hold.phase === 'AWAITING_CHECKOUT' && (await reconcilingSince(core.database.query))) {
    return answerAgain(core, await findFirstUnstored(core, release, reconciling, agrees), holdRequestId);
  }
  const stored = await storedOrLost(core.books.store(release));
  if (stored === 'LOST') return unknown(requestId, holdRequestId);
  const first = await findFirst(core, release, stored, agrees);
  if (first) return answerAgain(core, first, holdRequestId);

  const answer = core.processors.of(hold).callers.waitOrLeave(async () => {
    try {
      const facts: SubmissionFacts = {
        kind: 'RELEASE',
        requestId,
        processorRequestId: await sentAs(core, requestId, stored),
        holdRequestId,
        hold,
        merchantId: hold.merchantId,
        amount: await reservedBy(core, requestId, stored.amount),
        currency: hold.currency,
        processor,
        processorAccount,
      };
      const outcome = await send(core, facts);
      const settled = await settle(core, facts, outcome);
      if (settled.is === 'UNKNOWN') return unknown(requestId, holdRequestId);
      if (settled.is === 'ENDED') demandOk(requestId, outcome);
      return await answerAgain(core, { requestId, replayed: false }, holdRequestId);
    } catch (error) {
      demandOwnResult(core, requestId, error);
      return unknown(requestId, holdRequestId);
    }
  });
  return (await answer) ?? unknown(requestId, holdRequestId);
};

/** What a release has reserved; a statement whose result was lost did not say. */
async function reservedBy(core: Core, requestId: string, amount: bigint | undefined): Promise<bigint> {
  return amount ?? (await findSubmission(core.database.query, requestId))?.amount ?? 0n;
}

/** The answer from what was written once. */
async function answerAgain(core: Core, first: First, holdRequestId: string): Promise<Response> {
  const { requestId, replayed } = first;
  try {
    const row = await findSubmission(core.database.query, requestId);
    assert(row, 'what is answered was stored');
    await demandAnswerable(core, first, row);
    const answer = row.state === 'OK' ? await released(core, row) : unknown(requestId, holdRequestId);
    return { ...answer, replayed };
  } catch (error) {
    demandRefusal(core, requestId, error);
    return unknown(requestId, holdRequestId);
  }
}

/** Whether an operation is a release of the hold. */
async function isOf(core: Core, requestId: string, hold: HoldRow): Promise<boolean> {
  const row = await findSubmission(core.database.query, requestId);
  return row?.kind === 'RELEASE' && row.holdRequestId === hold.requestId;
}

/** The hold as it was right after the release, whatever has happened to it since: the first answer. */
async function released(core: Core, release: SubmissionRow): Promise<Response> {
  const { requestId, holdRequestId } = release;
  const hold = await findHold(core.database.query, holdRequestId ?? '');
  assert(hold, 'a release has a hold');
  const preauthorization = presentHold(holdAfter(hold, release), core.cipher);
  return { preauthorization, requestId, state: OperationState.OK };
}

function holdAfter(hold: HoldRow, release: SubmissionRow): HoldRow {
  const { capturedAfter, remainingAfter, releasedAfter, reversedAfter, refundedAfter, statusAfter, frozenAfter } =
    release;
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
    refunded: refundedAfter ?? 0n,
    releaseReason: isClosed && statusAfter !== 'FAILED' && releasedAfter !== 0n ? 'RELEASED' : null,
    frozen: frozenAfter,
    closedAt: isClosed ? hold.closedAt : null,
  };
}

function unknown(requestId: string, holdRequestId: string): Response {
  return { preauthorization: { requestId: holdRequestId }, requestId, state: OperationState.UNKNOWN };
}
