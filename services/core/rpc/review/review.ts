import { drawId } from '../../../../platform/draw-id.ts';
import {
  ContradictionSchema,
  type ResolveOperationRequest,
  ReviewItemSchema,
} from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { BY_INQUIRY } from '../../domain/contradiction.ts';
import { remainedOf } from '../../domain/hold-rules.ts';
import { mustHappen } from '../../domain/kinds.ts';
import { type FinalOutcome, isOk, NEVER_RECEIVED } from '../../domain/outcome.ts';
import { isOfOtherAmount } from '../../kinds/judge-outcome.ts';
import { settleDecided, settleLate } from '../../kinds/settle-late.ts';
import { findReviewItems, type ReviewFilter } from '../../reports/review-items.ts';
import { actorOfCall } from '../../storage/audit-log/actor.ts';
import { committing, demandInTime } from '../../storage/bound-change.ts';
import { acknowledge, unfreezeHold } from '../../storage/contradiction/contradictions.ts';
import {
  type ContradictionRow,
  findOpen,
  listContradictions as listKept,
} from '../../storage/contradiction/read-contradictions.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { findSent, type Sent } from '../../storage/submission/find-sent.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { findOperation } from '../operation/read-operations.ts';
import { BY_ID, BY_REQUEST_ID, filtersOf, readPage } from '../pages.ts';
import { operationOf, present } from '../present.ts';
import { bookContradicted } from '../processor-event/report-taken-back.ts';
import { exceedsHold, invalidField, refusalOf } from '../refuse.ts';

/** Lists the items that wait for an operator, oldest first. */
export const listReviewItems: Method<'listReviewItems'> = (core, request, context) => {
  const now = core.clock();
  return readPage('items', request, filtersOf<ReviewFilter>(context, request), BY_REQUEST_ID, {
    read: (filters, after, limit) => findReviewItems(core.reads.query, filters, { after, limit, now }),
    present: (row) =>
      present(ReviewItemSchema, row, {
        lateVoid: row.kind === 'LATE_VOID',
        kind: row.kind && (operationOf(row.kind) ?? 'RELEASE'),
        contradictions: row.contradictions.map(presentContradiction),
        ageS: BigInt(Math.max(0, Math.floor((now.getTime() - row.createdAt.getTime()) / 1_000))),
        nextInquiryAt: row.inquireAt,
      }),
  });
};

/** Lists the contradictions of an operation or a hold, newest first. */
export const listContradictions: Method<'listContradictions'> = (core, request) => {
  const { requestId } = request;
  return readPage('contradictions', request, { requestId }, BY_ID, {
    read: (_, before, limit) => listKept(core.reads.query, requestId, before, limit),
    present: presentContradiction,
  });
};

function presentContradiction(row: ContradictionRow) {
  return present(ContradictionSchema, row, { contradictionId: row.id });
}

/** Notes that an operator has looked at a contradiction that freezes no hold. Audited by the interceptor, before. */
export const acknowledgeContradictions: Method<'acknowledgeContradictions'> = async (core, { requestId, reason }) => {
  const { query } = core.database;
  const open = await findOpen(query, requestId);
  if (!open) throw refusalOf('OPERATION_NOT_FOUND');
  if (open.frozenHold !== null) throw invalidField('request_id', 'its hold is frozen: unfreeze that');
  await demandInTime(query);
  const acknowledged = await committing((begins) => {
    begins();
    return acknowledge(query, requestId, resolutionOf(core, reason));
  });
  if (acknowledged === 0) throw refusalOf('OPERATION_NOT_FOUND');
  return { acknowledged };
};

function resolutionOf({ clock }: Core, how: string) {
  return { at: clock(), by: actorOfCall(), how };
}

/**
 * Settles a submission as an operator decides, who has asked the processor's people, once inquiries ended without a
 * result (docs/product.md, "Unknown outcomes"). The processor is asked once more before. It takes the way of any late
 * result, so a contradicting one freezes the hold. Audited by the interceptor, before.
 */
export const resolveOperation: Method<'resolveOperation'> = async (core, request) => {
  const { requestId } = request;
  const { query } = core.database;
  const sent = isUuid(requestId) ? await findSent(query, requestId) : undefined;
  if (!sent) throw refusalOf('OPERATION_NOT_FOUND');
  const decides = request.outcome !== OperationState.UNSPECIFIED;
  if (!decides && !request.unfreezeHold) {
    throw invalidField('outcome', 'say how the operation ended, or that its hold is to be unfrozen');
  }
  const holdRequestId = sent.kind === 'HOLD' ? requestId : sent.holdRequestId;
  if (request.unfreezeHold && holdRequestId === null) throw invalidField('unfreeze_hold', 'it has no hold');
  const overruled = decides && !(await settle(core, request, sent));
  const resolution = resolutionOf(core, request.reason);
  // An operator whom the processor has just contradicted may be wrong about the hold, too.
  if (request.unfreezeHold && holdRequestId !== null && !overruled) {
    await demandInTime(query);
    await committing((begins) => {
      begins();
      return unfreezeHold(query, holdRequestId, resolution);
    });
  }
  if (decides) await acknowledge(query, requestId, resolution);
  core.log.warn('operator_resolved', { requestId, state: OperationState[request.outcome] });
  const operation = await findOperation(core, requestId, undefined);
  const hold = holdRequestId === null ? undefined : await findHold(query, holdRequestId);
  return { ...(operation && { operation }), frozen: hold?.frozen ?? false, overruled };
};

/**
 * Books that an operation ended otherwise than was told, as an operator believes (docs/product.md, "Corrections").
 * Audited by the interceptor, before.
 */
export const correctOperation: Method<'correctOperation'> = async (core, request) => {
  const { requestId: correctsRequestId } = request;
  const sent = isUuid(correctsRequestId) ? await findSent(core.database.query, correctsRequestId) : undefined;
  if (!sent) throw refusalOf('OPERATION_NOT_FOUND');
  if (sent.kind === 'HOLD') throw refusalOf('NOT_CORRECTABLE');
  const holdRequestId = sent.holdRequestId ?? undefined;
  const requestId = drawId();
  const ok = request.outcome === OperationState.OK;
  const correcting = { requestId, correctsRequestId, holdRequestId, ok, by: actorOfCall(), at: core.clock() };
  await demandInTime(core.database.query);
  const { became, hold } = await committing((begins) => {
    begins();
    return core.books.correct(correcting);
  });
  if (became === 'AMOUNT_EXCEEDS_HOLD' && hold) {
    throw exceedsHold({ remaining: remainedOf(hold), currency: hold.currency });
  }
  // A call that died after its correction left these to its repetition.
  if (ok && (became === 'CORRECTED' || became === 'OUTCOME_UNCHANGED')) await bookContradicted(core, sent);
  if (became !== 'CORRECTED') throw refusalOf(became);
  core.log.warn('operator_corrected', { requestId: correctsRequestId, state: OperationState[request.outcome] });
  return { operation: await findOperation(core, requestId, undefined), frozen: false };
};

/** Returns whether the operation has the result that the operator decided; false = the processor said otherwise. */
async function settle(core: Core, request: ResolveOperationRequest, sent: Sent): Promise<boolean> {
  const { requestId, state } = sent;
  const { query } = core.database;
  if (state === 'OK' || state === 'KO') throw invalidField('request_id', 'the operation has its result already');
  if (state === 'PENDING' && !(await isCheckoutOver(core, sent))) {
    throw invalidField('request_id', 'the processor is being asked still');
  }
  const outcome = outcomeOf(request);
  const said = await settledByProcessor(core, request, sent);
  if (said !== true) {
    await demandInTime(query);
    await committing((begins) => {
      begins();
      return settleDecided(core, sent, outcome);
    });
  }
  // An authorization of another amount belongs to no hold now: it is given back.
  if (typeof said === 'object' && sent.kind === 'HOLD' && !isOk(outcome)) {
    await settleLate(core, sent, said, BY_INQUIRY);
  }
  const now = await findSent(query, requestId);
  return now?.state === (isOk(outcome) ? 'OK' : 'KO');
}

/**
 * Inquires first, which fences: what the processor does not know now it will never perform, so a person's KO cannot be
 * overtaken. What it does know is settled as recovery would. True = it has its result; an outcome = the operator judges
 * that. Errors: INVALID_REQUEST while
 * the processor is at work, and when it does not answer or has been at work for too long, unless the operator decides
 * unfenced.
 */
async function settledByProcessor(
  core: Core,
  { unfenced }: ResolveOperationRequest,
  sent: Sent,
): Promise<boolean | FinalOutcome> {
  const answer = await core.processors.of(sent).inquire(sent);
  if (answer.found === 'AT_WORK' && (await isInTime(core, sent, answer.expectedBy))) {
    throw invalidField('request_id', 'the processor is at work on it; try again later');
  }
  if (answer.found === 'DONE' || answer.found === 'NEVER_SEEN') {
    const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
    // It came to review because the processor refused an operation that must happen: the operator judges it.
    if (!isOk(outcome) && mustHappen(sent.kind)) return false;
    // So it is when the processor has done it for another amount than was asked for.
    if (isOfOtherAmount(sent, outcome)) return outcome;
    if (await settleLate(core, sent, outcome, BY_INQUIRY)) return true;
  }
  if (unfenced) return false;
  throw invalidField('unfenced', 'the processor has no result, and may perform it yet; set it to decide all the same');
}

/**
 * Returns whether the processor may still be at work: until the time that it stated, within bounds, or the end of
 * inquiries.
 */
async function isInTime(core: Core, sent: Sent, expectedBy: Date | undefined): Promise<boolean> {
  const { kind, createdAt, state } = sent;
  if (!expectedBy) return state !== 'NEEDS_REVIEW';
  return (await core.processors.of(sent).acceptedUntil(kind, createdAt, expectedBy)) > core.clock();
}

/** A checkout that has run out and could not be given up. */
async function isCheckoutOver(core: Core, { kind, requestId }: Sent): Promise<boolean> {
  const hold = kind === 'HOLD' ? await findHold(core.database.query, requestId) : undefined;
  if (hold?.phase !== 'AWAITING_CHECKOUT' || hold.closing) return false;
  return (hold.checkoutExpiresAt ?? hold.createdAt) <= core.clock();
}

function outcomeOf(request: ResolveOperationRequest): FinalOutcome {
  const { processorReference: reference, bankReference, processorError } = request;
  if (request.outcome === OperationState.OK) return { answer: 'APPROVED', reference, bankReference };
  return {
    answer: 'NOT_PERFORMED',
    code: processorError?.code || 'resolved_by_operator',
    message: processorError?.message || 'An operator learned that it was not done.',
  };
}
