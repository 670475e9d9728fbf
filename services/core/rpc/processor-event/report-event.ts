import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  type ForeignCapture,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { settleLate } from '../../kinds/settle-late.ts';
import { finalOutcome } from '../../processor/processor.ts';
import { freezeHold } from '../../storage/hold/change-hold.ts';
import { findEvent, type NamedEvent, rememberEvent } from '../../storage/processor-event/processor-events.ts';
import type { Sent } from '../../storage/submission/find-sent.ts';
import type { Core, Method } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { reporterOf } from '../server/caller.ts';
import { authorizationEnded } from './authorization-ended.ts';
import { findReported } from './find-reported.ts';
import { takenBack } from './report-reversal.ts';

/**
 * Takes an event that the processor reports, at least once. The event is remembered after it was acted on; acting twice
 * changes nothing, because the first result of an operation stays. Errors: IDEMPOTENCY_KEY_REUSED when the same
 * event_id said something else before: one of the two is lost on us, so people must look.
 */
export const reportEvent: Method<'reportEvent'> = async (core, request, context) => {
  const { query } = core.database;
  const processor = reporterOf(context);
  const sent = await findReported(core, processor, request.event);
  const event = { id: request.eventId, processor, merchantId: sent.merchantId, digest: digestOf(request) };
  const seen = await findEvent(query, event.id, processor);
  if (seen) return demandSame(core, event, seen.digest);
  await act(core, sent, request, event);
  return demandSame(core, event, await rememberEvent(query, event, core.clock()));
};

function demandSame(core: Core, { id, processor, digest }: NamedEvent, kept: Uint8Array): object {
  if (digest.equals(kept)) return {};
  core.metrics.eventConflict();
  const [told, stands] = [digest.toString('hex'), Buffer.from(kept).toString('hex')];
  core.log.error('event_id_reused', { eventId: id, processor, told, kept: stands });
  throw new HoldfastError('IDEMPOTENCY_KEY_REUSED', 'the event_id was reported before, with another event');
}

/** SHA-256 of what the event says. When it happened is not part of it: a report repeated may say so anew. */
function digestOf({ event }: ReportEventRequest): Buffer {
  const said = create(ReportEventRequestSchema, { event });
  return createHash('sha256').update(toBinary(ReportEventRequestSchema, said)).digest();
}

async function act(core: Core, sent: Sent, { event }: ReportEventRequest, remembered: NamedEvent): Promise<void> {
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return settle(core, sent, event.value.result);
    case 'authorizationEnded':
      return authorizationEnded(core, sent, event.value);
    case 'captureReversed':
      return takenBack(core, 'REVERSAL', sent, event.value, remembered);
    case 'captureReinstated':
      return takenBack(core, 'REINSTATEMENT', sent, event.value, remembered);
    case 'foreignCapture':
      return freezeCharged(core, sent, event.value);
  }
}

/**
 * Somebody else charged the authorization: what is left of the hold here may not be left there, so an operator must
 * look.
 */
async function freezeCharged(core: Core, { requestId }: Sent, event: ForeignCapture): Promise<void> {
  const { captureRequestId } = event;
  core.log.error('contradicting_event', {
    requestId: captureRequestId,
    holdRequestId: requestId,
    told: 'FOREIGN_CAPTURE',
    kept: 'NONE',
  });
  await freezeHold(core.database.query, requestId);
}

async function settle(core: Core, sent: Sent, result: Result | undefined): Promise<void> {
  const outcome = finalOutcome(result);
  if (!outcome) throw invalidField('result', 'says nothing');
  if (await settleLate(core, sent, outcome)) return;
  throw new HoldfastError('UNAVAILABLE', 'the processor did not confirm the result', { retryAfterS: 1 });
}
