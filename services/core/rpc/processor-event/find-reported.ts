import type { ReportEventRequest } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { SentKind } from '../../domain/kinds.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { importCheckout } from '../../reconciliation/import-checkout.ts';
import { findSentAs, type Sent } from '../../storage/submission/find-sent.ts';
import type { Core } from '../core.ts';
import { invalidField, refusalOf } from '../refuse.ts';

/**
 * What an event of a processor is about. Throws OPERATION_NOT_FOUND, also when it was sent to another processor, or is
 * of another kind than the event speaks of. A checkout that a restore has lost is imported.
 */
export async function findReported(core: Core, processor: string, event: ReportEventRequest['event']): Promise<Sent> {
  const { query } = core.database;
  const { kind, identifier } = subjectOf(event);
  const find = () => findSentAs(query, identifier, processor);
  let sent = await find();
  if (!sent && event.case === 'checkoutCompleted') {
    await importCheckout(core, processor, identifier);
    sent = await find();
  }
  if (!sent || (kind !== undefined && sent.kind !== kind)) throw refusalOf('OPERATION_NOT_FOUND');
  return sent;
}

/** What an event names: an identifier at the processor, and the kind that it must be of, unless any will do. */
function subjectOf(event: ReportEventRequest['event']): { kind?: SentKind; identifier: string } {
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return { identifier: event.value.requestId };
    case 'authorizationEnded':
      return { kind: 'HOLD', identifier: event.value.requestId };
    case 'foreignCapture':
      return { kind: 'HOLD', identifier: event.value.authorizationRequestId };
    case 'captureReversed':
    case 'captureReinstated': {
      const { captureRequestId, authorizationRequestId } = event.value;
      if (captureRequestId !== '') return { kind: 'CAPTURE', identifier: captureRequestId };
      return { kind: 'HOLD', identifier: authorizationRequestId };
    }
    default:
      throw invalidField('event', 'is missing');
  }
}

/** The refusal of an event that comes before what it is about; the processor reports it again. */
export function noResultYet(what: string): HoldfastError {
  return new HoldfastError('UNAVAILABLE', `${what} has no result yet`, { retryAfterS: 1 });
}
