import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import {
  type ProcessorEventService,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { TakingBack } from '../../books/take-back.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { settleLate } from '../../kinds/settle-late.ts';
import { finalOutcome } from '../../processor/processor.ts';
import { findEvent, rememberEvent } from '../../storage/processor-event/processor-event.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { mayReportOn } from '../server/caller.ts';
import { authorizationEnded } from './authorization-ended.ts';
import { findSent, type Reporting } from './find-sent.ts';
import { takenBack } from './taken-back.ts';

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
    const mayReport = (processor: string) => mayReportOn(core.settings, context, processor);
    await act({ ...core, mayReport }, request, { id: eventId, digest });
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

async function act(core: Reporting, { event }: ReportEventRequest, remembered: TakingBack['event']): Promise<void> {
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return settle(core, event.value.requestId, event.value.result);
    case 'authorizationEnded':
      return authorizationEnded(core, event.value);
    case 'captureReversed':
      return takenBack(core, 'REVERSAL', event.value, remembered);
    case 'captureReinstated':
      return takenBack(core, 'REINSTATEMENT', event.value, remembered);
    default:
      throw invalidField('event', 'is missing');
  }
}

async function settle(core: Reporting, identifier: string, result: Result | undefined): Promise<void> {
  const outcome = finalOutcome(result);
  if (!outcome) throw invalidField('result', 'says nothing');
  const submission = await findSent(core, 'any table', identifier);
  if (await settleLate(core, submission.table, submission.requestId, outcome)) return;
  throw new HoldfastError('UNAVAILABLE', 'the processor did not confirm the result', { retryAfterS: 1 });
}
