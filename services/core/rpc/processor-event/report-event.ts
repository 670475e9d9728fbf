import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type ProcessorEventService,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { reverse as bookReversal } from '../../books/reverse.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { settleLate } from '../../kinds/settle-late.ts';
import { finalOutcome } from '../../processor/processor.ts';
import { findCapture } from '../../storage/capture/find-captures.ts';
import { freezeHold } from '../../storage/hold/freeze-hold.ts';
import { findSentSubmission, type Submission } from '../../storage/operation/find-submission.ts';
import { findEvent, rememberEvent } from '../../storage/processor-event/processor-event.ts';
import type { Core } from '../core.ts';
import { invalidField, refusalOf } from '../refuse.ts';
import { mayReportOn } from '../server/caller.ts';

/**
 * Takes an event that the processor reports, at least once. The event is remembered after it was acted on; acting twice changes
 * nothing, because the first result of an operation stays. Errors: IDEMPOTENCY_KEY_REUSED when the same event_id said something else
 * before: one of the two is lost on us, so people must look.
 */
export function reportEvent(core: Core): MethodImpl<typeof ProcessorEventService.method.reportEvent> {
  return async (request, context) => {
    const { eventId } = request;
    const digest = digestOf(request);
    const seen = await findEvent(core.database.query, eventId);
    if (seen) return demandSame(core, eventId, digest, seen.digest);
    await act(core, request, (processor) => mayReportOn(core.settings, context, processor));
    return demandSame(core, eventId, digest, await rememberEvent(core.database.query, eventId, digest, core.clock()));
  };
}

function demandSame(core: Core, eventId: string, digest: Buffer, kept: Uint8Array | null | undefined): object {
  if (kept == null || digest.equals(kept)) return {};
  core.metrics.eventConflict();
  const [told, stands] = [digest.toString('hex'), Buffer.from(kept).toString('hex')];
  core.log.error('event_id_reused', { eventId, told, kept: stands });
  throw new HoldfastError('IDEMPOTENCY_KEY_REUSED', 'the event_id was reported before, with another event');
}

/** SHA-256 of what the event says. When it happened is not part of it: a report repeated may say so anew. */
function digestOf({ event }: ReportEventRequest): Buffer {
  const said = create(ReportEventRequestSchema, { event });
  return createHash('sha256').update(toBinary(ReportEventRequestSchema, said)).digest();
}

async function act(core: Core, { event }: ReportEventRequest, mayReportOn: MayReportOn): Promise<void> {
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return settle(core, await subjectOf(core, event.value.requestId, mayReportOn), event.value.result);
    case 'captureReversed':
      return reverse(
        core,
        await subjectOf(core, event.value.captureRequestId, mayReportOn),
        event.value.amount,
        event.value.reference,
      );
    default:
      throw invalidField('event', 'is missing');
  }
}

type MayReportOn = (processor: string) => boolean;

/** What an event is about. To a processor that reports on another one's, it is as if it did not exist. */
async function subjectOf(core: Core, identifier: string, mayReportOn: MayReportOn): Promise<Submission> {
  const submission = await findSentSubmission(core.database.query, identifier);
  const processor = submission && (core.processors.nameOf(submission.processor) ?? submission.processor);
  if (processor === undefined || !mayReportOn(processor)) throw refusalOf('OPERATION_NOT_FOUND');
  return submission as Submission;
}

async function settle(core: Core, submission: Submission, result: Result | undefined): Promise<void> {
  const outcome = finalOutcome(result);
  if (!outcome) throw invalidField('result', 'says nothing');
  if (await settleLate(core, submission.table, submission.requestId, outcome)) return;
  throw new HoldfastError('UNAVAILABLE', 'the processor did not confirm the result', { retryAfterS: 1 });
}

/** A reversal of a capture that is not OK yet is refused for now; the processor reports it again. One of a KO capture contradicts it. */
async function reverse(
  core: Core,
  { requestId: captureRequestId }: Submission,
  amount: bigint,
  reference: string,
): Promise<void> {
  const capture = await findCapture(core.database.query, captureRequestId);
  if (!capture) throw refusalOf('OPERATION_NOT_FOUND');
  if (capture.amount !== amount) throw invalidField('amount', "is not the capture's");
  if (capture.state === 'KO') {
    core.log.error('contradicting_event', { requestId: captureRequestId, told: 'REVERSED', kept: 'KO' });
    await freezeHold(core.database.query, capture.holdRequestId);
    return;
  }
  if (capture.state !== 'OK')
    throw new HoldfastError('UNAVAILABLE', 'the capture has no result yet', { retryAfterS: 1 });
  await bookReversal(core.books, { requestId: uuidv7(), captureRequestId, reference, at: core.clock() });
}
