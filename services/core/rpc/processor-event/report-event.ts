import assert from 'node:assert/strict';
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
import type { Contradiction, Told } from '../../domain/contradiction.ts';
import { isOpen } from '../../domain/hold-rules.ts';
import type { SentKind } from '../../domain/kinds.ts';
import { isOk } from '../../domain/outcome.ts';
import { HoldfastError, type RefusalCode } from '../../domain/refusal.ts';
import { contradict } from '../../kinds/contradict.ts';
import { endHold, noteEnd } from '../../kinds/end-hold.ts';
import { settleLate } from '../../kinds/settle-late.ts';
import { finalOutcome } from '../../processor/read-result.ts';
import { findOrImportHold } from '../../reconciliation/import-hold.ts';
import { findEvent, type NamedEvent, rememberEvent } from '../../storage/processor-event/processor-events.ts';
import { reconcilingSince } from '../../storage/reconciling.ts';
import { findSent, findSentAs, type Sent } from '../../storage/submission/find-sent.ts';
import type { Core, Method } from '../core.ts';
import { invalidField, noResultYet, refusalOf } from '../refuse.ts';
import { reporterOf } from '../server/caller.ts';
import { cameBack, takenBack } from './report-taken-back.ts';

/**
 * Takes an event that the processor reports, at least once. The event is remembered after it was acted on; acting twice
 * changes nothing, because the first result of an operation stays. Errors: IDEMPOTENCY_KEY_REUSED when the same
 * event_id said something else before: one of the two is lost on us, so people must look.
 */
export const reportEvent: Method<'reportEvent'> = async (core, request, context) => {
  const { query } = core.database;
  const processor = reporterOf(context);
  const refused = (error: unknown, sent?: Sent) => keepRefusal(core, request, { processor, sent }, error);
  const sent = await findReported(core, processor, request.event).catch((error) => refused(error));
  const event = { id: request.eventId, processor, merchantId: sent.merchantId, digest: digestOf(request) };
  const seen = await findEvent(query, event.id, processor);
  if (seen) return demandSame(core, sent, event, seen.digest);
  await act(core, sent, request, event).catch((error) => refused(error, sent));
  return demandSame(core, sent, event, await rememberEvent(query, event, core.clock()));
};

/**
 * Keeps an event that is refused for good for an operator. Not kept is an event that is refused for now, since it is
 * sent again, and one about an operation that a restore may have lost. Throws the refusal.
 */
async function keepRefusal(
  core: Core,
  { eventId, event }: ReportEventRequest,
  { processor, sent }: { readonly processor: string; readonly sent?: Sent | undefined },
  error: unknown,
): Promise<never> {
  const isForGood = error instanceof HoldfastError && REFUSED_FOR_GOOD.has(error.code);
  if (isForGood && event.case !== undefined && !(await reconcilingSince(core.database.query))) {
    const { value } = event;
    const said = {
      kind: 'EVENT_REFUSED',
      told: wordOf(event.case),
      kept: error.code,
      toldAmount: 'amount' in value ? value.amount : undefined,
      reference: 'reference' in value ? value.reference : undefined,
    } as const;
    const requestId = sent?.requestId ?? subjectOf(event).identifier;
    await contradict(core, aboutOf(requestId, sent, processor), said, { source: 'EVENT', eventId });
  }
  throw error;
}

const REFUSED_FOR_GOOD: ReadonlySet<RefusalCode> = new Set(['INVALID_REQUEST', 'OPERATION_NOT_FOUND']);

/** `captureReversed` → `CAPTURE_REVERSED`. */
function wordOf(name: string): string {
  return name.replace(/([A-Z])/g, '_$1').toUpperCase();
}

/** The known subject of an event; undefined = none. */
function aboutOf(requestId: string, sent: Sent | undefined, processor: string) {
  if (!sent) return { requestId, merchantId: null, processor };
  const { merchantId, currency, kind } = sent;
  const holdRequestId = kind === 'HOLD' ? sent.requestId : sent.holdRequestId;
  return { requestId, holdRequestId, merchantId, processor, currency };
}

/**
 * Finds the subject of a processor's event. Throws OPERATION_NOT_FOUND, also for an operation sent to another
 * processor, or of another kind than the event's.
 */
async function findReported(core: Core, processor: string, event: ReportEventRequest['event']): Promise<Sent> {
  const { kind, identifier } = subjectOf(event);
  const sent =
    event.case === 'checkoutCompleted' || event.case === 'operationSettled'
      ? await findOrImportHold(core, processor, identifier)
      : await findSentAs(core.database.query, identifier, processor);
  if (!sent || (kind !== undefined && kind !== roleOf(sent))) throw refusalOf('OPERATION_NOT_FOUND');
  return sent;
}

/** An event about an authorization is about a hold, whether the hold's own placing made it, or a renewal. */
function roleOf({ kind }: Sent): SentKind {
  return kind === 'RENEWAL' ? 'HOLD' : kind;
}

/** The subject that an event names: an identifier at the processor, and its kind, unless any is possible. */
function subjectOf(event: ReportEventRequest['event']): { kind?: SentKind; identifier: string } {
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return { identifier: event.value.requestId };
    case 'authorizationEnded':
      return { kind: 'HOLD', identifier: event.value.requestId };
    case 'foreignCapture':
      return { kind: 'HOLD', identifier: event.value.authorizationRequestId };
    case 'refundReturned':
      return { kind: 'REFUND', identifier: event.value.refundRequestId };
    case 'creditReturned':
      return { kind: 'OCT', identifier: event.value.creditRequestId };
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

async function demandSame(
  core: Core,
  sent: Sent,
  { id, processor, digest }: NamedEvent,
  kept: Uint8Array,
): Promise<object> {
  if (digest.equals(kept)) return {};
  core.metrics.eventConflict();
  const [told, stands] = [digest.toString('hex'), Buffer.from(kept).toString('hex')];
  core.log.error('event_id_reused', { eventId: id, processor, told, kept: stands });
  const said: Contradiction = { kind: 'EVENT_ID_REUSED', told: 'ANOTHER_EVENT', kept: 'EVENT' };
  await contradict(core, aboutOf(sent.requestId, sent, processor), said, { source: 'EVENT', eventId: id });
  throw new HoldfastError('IDEMPOTENCY_KEY_REUSED', 'the event_id was reported before, with another event');
}

/** SHA-256 of an event's content without its time, which a repeated report may give anew. */
function digestOf({ event }: ReportEventRequest): Buffer {
  const said = create(ReportEventRequestSchema, { event });
  return createHash('sha256').update(toBinary(ReportEventRequestSchema, said)).digest();
}

async function act(core: Core, sent: Sent, { event }: ReportEventRequest, remembered: NamedEvent): Promise<void> {
  const told = { source: 'EVENT', eventId: remembered.id } as const;
  switch (event.case) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return settle(core, sent, event.value.result, remembered);
    case 'authorizationEnded':
      return authorizationEnded(core, sent, event.value, told);
    case 'captureReversed':
    case 'captureReinstated':
    case 'refundReturned':
    case 'creditReturned':
      return takenBack(core, await subjectIn(core, sent), event, remembered);
    case 'foreignCapture':
      return freezeCharged(core, await subjectIn(core, sent), event.value, told);
  }
}

/** The hold of a renewal, whose books have what becomes of its authorization; else the operation itself. */
async function subjectIn({ database: { query } }: Core, sent: Sent): Promise<Sent> {
  if (sent.kind !== 'RENEWAL' || sent.holdRequestId === null) return sent;
  const hold = await findSent(query, sent.holdRequestId);
  assert(hold, 'the hold of a renewal was stored before');
  return hold;
}

async function settle(core: Core, sent: Sent, result: Result | undefined, remembered: NamedEvent): Promise<void> {
  const outcome = finalOutcome(result);
  if (!outcome) throw invalidField('result', 'says nothing');
  const canComeBack = sent.state === 'OK' && (sent.kind === 'REFUND' || sent.kind === 'OCT');
  if (canComeBack && !isOk(outcome)) return cameBack(core, sent, outcome, remembered);
  if (await settleLate(core, sent, outcome, { source: 'EVENT', eventId: remembered.id })) return;
  throw new HoldfastError('UNAVAILABLE', 'the processor did not confirm the result', { retryAfterS: 1 });
}

/**
 * Ends a hold whose authorization ended at the processor, like one whose period is over: nothing more is captured, and
 * the remaining amount is given back once operations in flight have their results and the amount is not in doubt. The
 * end of a hold that is not placed yet, or of a renewal without a result, is refused for now. The end of an ended hold
 * changes nothing, nor does that of an authorization that is not its hold's any more.
 */
async function authorizationEnded(
  core: Core,
  sent: Sent,
  { end, amount, reference }: AuthorizationEnded,
  told: Told,
): Promise<void> {
  const isRenewal = sent.kind === 'RENEWAL';
  if (isRenewal && sent.state !== 'OK' && sent.state !== 'KO') throw noResultYet('the renewal');
  const as = end === AuthorizationEnd.VOIDED ? 'RELEASED' : 'EXPIRED';
  const { requestId } = await subjectIn(core, sent);
  const hold = await noteEnd(core, { requestId, authorization: sent.requestId, as, amount, reference }, told);
  if (!hold) throw refusalOf('OPERATION_NOT_FOUND');
  if (hold.phase === 'FAILED') return;
  if (hold.phase !== 'AUTHORIZED') throw noResultYet('the hold');
  if (hold.endedAs != null && isOpen(hold)) await endHold(core, hold);
}

/** Somebody else charged the authorization, so the rest of the hold may be gone there: an operator must look. */
async function freezeCharged(core: Core, sent: Sent, event: ForeignCapture, told: Told): Promise<void> {
  const { captureRequestId: requestId, amount: toldAmount, reference } = event;
  const { merchantId, processor, currency, requestId: holdRequestId } = sent;
  const about = { requestId, holdRequestId, merchantId, processor, currency };
  const said = { kind: 'FOREIGN_CAPTURE', told: 'FOREIGN_CAPTURE', kept: 'NONE', toldAmount, reference } as const;
  // Its report may come after its import.
  if (await findSentAs(core.database.query, requestId, processor)) return;
  await contradict(core, about, { ...said, freezes: 'UNKNOWN_CHARGE' }, told);
}
