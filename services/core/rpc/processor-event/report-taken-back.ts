import { drawId } from '../../../../platform/draw-id.ts';
import type { ReportEventRequest } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { ReadTakenBack } from '../../books/take-back.ts';
import type { Contradiction } from '../../domain/contradiction.ts';
import type { Declined, NotPerformed } from '../../domain/outcome.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { contradict } from '../../kinds/contradict.ts';
import { readTakenBack } from '../../processor/read-entries.ts';
import { findTakenBack } from '../../storage/contradiction/read-contradictions.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { isImported } from '../../storage/imported/import-marks.ts';
import { findEvent, type NamedEvent } from '../../storage/processor-event/processor-events.ts';
import type { Sent } from '../../storage/submission/find-sent.ts';
import { readAuthorizations } from '../../storage/submission/read-submissions.ts';
import type { Core } from '../core.ts';
import { invalidField, noResultYet } from '../refuse.ts';

/** An event that something came back, or was given again. */
export type TakenBackEvent = Extract<ReportEventRequest['event'], { readonly case: keyof typeof KINDS }>;

/** The operation of each event, and its word in the log. */
const KINDS = {
  captureReversed: { kind: 'REVERSAL', told: 'REVERSED' },
  captureReinstated: { kind: 'REINSTATEMENT', told: 'REINSTATED' },
  refundReturned: { kind: 'REFUND_RETURN', told: 'RETURNED' },
  creditReturned: { kind: 'OCT_RETURN', told: 'RETURNED' },
} as const;

const WORDS = { HOLD: 'the hold', CAPTURE: 'the capture', REFUND: 'the refund', OCT: 'the OCT' } as const;

/**
 * Books that an operation that was OK came back, in whole or in part, or was given again. An event about an unknown one
 * is refused for now, and the processor reports it again. An event about a KO operation contradicts it. An amount that
 * exceeds what can come back is refused as a whole. Only the amount that an import has already booked is left out.
 */
export async function takenBack(core: Core, sent: Sent, event: TakenBackEvent, remembered: NamedEvent): Promise<void> {
  const { requestId, state, holdRequestId } = sent;
  const { kind, told } = KINDS[event.case];
  if (state !== 'OK' && state !== 'KO') throw noResultYet(WORDS[sent.kind as keyof typeof WORDS]);
  const { amount, reference } = event.value;
  if (state === 'KO') return contradictResult(core, sent, { told, toldAmount: amount, reference }, remembered);
  const became = await core.books.takeBack({
    requestId: drawId(),
    kind,
    holdRequestId: sent.kind === 'HOLD' ? requestId : (holdRequestId ?? undefined),
    subjectRequestId: sent.kind === 'HOLD' ? undefined : requestId,
    amount,
    reference,
    readTakenBack: readIfImported(core, sent),
    event: remembered,
    at: core.clock(),
  });
  if (became === 'BOOKED') return;
  if (event.case === 'captureReinstated' && !(await isKnown(core, event.value.reversalEventId, remembered.processor))) {
    throw new HoldfastError('UNAVAILABLE', 'the reversal is not known yet', { retryAfterS: 1 });
  }
  if (sent.kind === 'HOLD' && (await mayBeCaptured(core, requestId))) throw noResultYet('a capture of the hold');
  throw invalidField('amount', 'is more than what can come back of it');
}

/**
 * Books what an operation's contradictions say came back of it while it was told KO. Call it once the operation is OK.
 * An amount that exceeds what can come back stays a contradiction.
 */
export async function bookContradicted(core: Core, { requestId, kind, holdRequestId }: Sent): Promise<void> {
  for (const { id, told, toldAmount, reference } of await findTakenBack(core.database.query, requestId)) {
    await core.books.takeBack({
      requestId: drawId(),
      kind: told === 'RETURNED' ? returnOf(kind) : told === 'REVERSED' ? 'REVERSAL' : 'REINSTATEMENT',
      holdRequestId: holdRequestId ?? undefined,
      subjectRequestId: requestId,
      amount: toldAmount ?? undefined,
      reference: reference ?? '',
      contradictionId: id,
      at: core.clock(),
    });
  }
}

function returnOf(kind: Sent['kind']) {
  return kind === 'OCT' ? 'OCT_RETURN' : 'REFUND_RETURN';
}

/**
 * A processor tells that a refund or an OCT came back also by a result: it was done, and is not done now. All that is
 * left of it came back.
 */
export async function cameBack(core: Core, sent: Sent, { code, message }: Declined | NotPerformed, event: NamedEvent) {
  await core.books.takeBack({
    requestId: drawId(),
    kind: returnOf(sent.kind),
    holdRequestId: sent.holdRequestId ?? undefined,
    subjectRequestId: sent.requestId,
    reference: '',
    reason: { code, message },
    event,
    at: core.clock(),
  });
}

/** Reads what came back at the processor, if some was imported from its books: the event may be booked already. */
function readIfImported({ database: { query }, processors }: Core, sent: Sent): ReadTakenBack {
  return async (hold, subject) => {
    if (!(await isImported(query, sent.requestId, 'TAKEN_BACK'))) return undefined;
    const authorizations = hold ? await readAuthorizations(query, hold.requestId) : [];
    return readTakenBack(sent.processor, processors.of(sent), authorizations, subject);
  };
}

/** The operation that came back must have been done, though it was told as failed; a capture was charged. */
function contradictResult(
  core: Core,
  { requestId, kind, holdRequestId, merchantId, currency }: Sent,
  told: Pick<Contradiction, 'told' | 'toldAmount' | 'reference'>,
  { id: eventId, processor }: NamedEvent,
): Promise<void> {
  const isRefund = kind === 'REFUND' || kind === 'OCT';
  const about = {
    requestId,
    holdRequestId: kind === 'HOLD' ? requestId : holdRequestId,
    merchantId,
    processor,
    currency,
  };
  const freezes = isRefund ? 'RESULT_CONTRADICTED' : 'UNKNOWN_CHARGE';
  return contradict(core, about, { kind: 'RESULT', kept: 'KO', ...told, freezes }, { source: 'EVENT', eventId });
}

/** Returns whether a reversal was booked; an unknown one may be booked later. */
async function isKnown(core: Core, reversalEventId: string, processor: string): Promise<boolean> {
  return reversalEventId !== '' && (await findEvent(core.database.query, reversalEventId, processor)) !== undefined;
}

/** Returns whether a capture of the hold, the possible subject, may become known later. */
async function mayBeCaptured(core: Core, holdRequestId: string): Promise<boolean> {
  const hold = await findHold(core.database.query, holdRequestId);
  return hold !== undefined && hold.inFlight > 0n;
}
