import type { MethodImpl } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  ProcessorEventService,
  ReportEventRequest,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { finalOutcome } from '../../processor/processor.ts';
import { settleAttempt, tableOf } from '../../settlement/settle-attempt.ts';
import { CaptureEntity } from '../../storage/capture.ts';
import type { Statement } from '../../storage/database.ts';
import { freezeHold } from '../../storage/freeze-hold.ts';
import { ProcessorEventEntity } from '../../storage/processor-event.ts';
import type { Core } from '../core.ts';
import { invalidField, refusalOf } from '../refuse.ts';

/**
 * Takes an event that the processor reports, at least once. The event is remembered after it was acted on; acting twice changes
 * nothing, because the first result of an operation stays.
 */
export function reportEvent(core: Core): MethodImpl<typeof ProcessorEventService.method.reportEvent> {
  return async (request) => {
    const seen = await core.database.orm.em.fork().findOne(ProcessorEventEntity, { id: request.eventId });
    if (!seen) {
      await act(core, request);
      await core.database.query(REMEMBER_EVENT, [request.eventId, core.clock()]);
    }
    return {};
  };
}

async function act(core: Core, { event }: ReportEventRequest): Promise<void> {
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return settle(core, event.value.requestId, event.value.result);
    case 'captureReversed':
      return reverse(core, event.value.captureRequestId, event.value.amount, event.value.reference);
    default:
      throw invalidField('event', 'is missing');
  }
}

async function settle(core: Core, requestId: string, result: Result | undefined): Promise<void> {
  const outcome = finalOutcome(result);
  if (!outcome) throw invalidField('result', 'says nothing');
  const table = await tableOf(core.database, requestId);
  if (!table) throw refusalOf('OPERATION_NOT_FOUND');
  await settleAttempt(core, table, requestId, outcome);
}

/** A reversal of a capture that is not OK yet is refused for now; the processor reports it again. One of a KO capture contradicts it. */
async function reverse(core: Core, captureRequestId: string, amount: bigint, reference: string): Promise<void> {
  const capture = await core.database.orm.em.fork().findOne(CaptureEntity, { requestId: captureRequestId });
  if (!capture) throw refusalOf('OPERATION_NOT_FOUND');
  if (capture.amount !== amount) throw invalidField('amount', "is not the capture's");
  if (capture.state === 'KO') {
    core.log.error('contradicting_event', { requestId: captureRequestId, told: 'REVERSED', kept: 'KO' });
    await freezeHold(core.database.query, capture.holdRequestId);
    return;
  }
  if (capture.state !== 'OK')
    throw new HoldfastError('UNAVAILABLE', 'the capture has no result yet', { retryAfterS: 1 });
  await core.books.reverseCapture({ requestId: uuidv7(), captureRequestId, reference, at: core.clock() });
}

const REMEMBER_EVENT: Statement = {
  name: 'remember-event',
  text: 'insert into processor_event (id, received_at) values ($1, $2) on conflict (id) do nothing',
};
