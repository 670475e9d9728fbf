import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  AuthorizationEnd,
  type AuthorizationEnded,
  type ForeignCapture,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { isOpen } from '../../domain/hold-rules.ts';
import type { SentKind } from '../../domain/kinds.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { endHold } from '../../kinds/end-hold.ts';
import { settleLate } from '../../kinds/settle-late.ts';
import { finalOutcome } from '../../processor/processor.ts';
import { importCheckout } from '../../reconciliation/import-checkout.ts';
import { freezeHold, markEnded } from '../../storage/hold/change-hold.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { findEvent, type NamedEvent, rememberEvent } from '../../storage/processor-event/processor-events.ts';
import { reconcilingSince } from '../../storage/reconciling.ts';
import { findSentAs, type Sent } from '../../storage/submission/find-sent.ts';
import type { Core, Method } from '../core.ts';
import { invalidField, noResultYet, refusalOf } from '../refuse.ts';
import { reporterOf } from '../server/caller.ts';
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

/**
 * What an event of a processor is about. Throws OPERATION_NOT_FOUND, also when it was sent to another processor, or is
 * of another kind than the event speaks of. A checkout that a restore has lost is imported.
 */
async function findReported(core: Core, processor: string, event: ReportEventRequest['event']): Promise<Sent> {
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

async function settle(core: Core, sent: Sent, result: Result | undefined): Promise<void> {
  const outcome = finalOutcome(result);
  if (!outcome) throw invalidField('result', 'says nothing');
  if (await settleLate(core, sent, outcome)) return;
  throw new HoldfastError('UNAVAILABLE', 'the processor did not confirm the result', { retryAfterS: 1 });
}

/**
 * An authorization that ended at the processor is like one whose period is over: nothing more is captured of it, and
 * what remains is given back when what is in flight has its result. An end of a hold that is not placed yet is refused
 * for now; one of a hold that has ended changes nothing.
 */
async function authorizationEnded(core: Core, { requestId }: Sent, event: AuthorizationEnded): Promise<void> {
  const { query } = core.database;
  const hold = await findHold(query, requestId);
  if (!hold) throw refusalOf('OPERATION_NOT_FOUND');
  if (hold.phase === 'FAILED') return;
  if (hold.phase !== 'AUTHORIZED') throw noResultYet('the hold');
  const as = event.end === AuthorizationEnd.VOIDED ? 'RELEASED' : 'EXPIRED';
  if (await markEnded(query, { requestId, as, amount: event.amount, reference: event.reference })) {
    core.log.error('contradicting_event', { holdRequestId: requestId, told: 'AMOUNT_RELEASED', kept: 'REMAINING' });
  }
  const marked = await findHold(query, requestId);
  // While the database is being reconciled, captures of the hold may be lost: it is ended afterwards, by the worker.
  if (await reconcilingSince(query)) return;
  if (marked?.endedAs != null && isOpen(marked)) await endHold(core, marked);
}

/** Somebody else charged the authorization, so the rest of the hold may be gone there: an operator must look. */
async function freezeCharged(core: Core, { requestId }: Sent, event: ForeignCapture): Promise<void> {
  const subject = { requestId: event.captureRequestId, holdRequestId: requestId };
  core.log.error('contradicting_event', { ...subject, told: 'FOREIGN_CAPTURE', kept: 'NONE' });
  await freezeHold(core.database.query, requestId);
}
