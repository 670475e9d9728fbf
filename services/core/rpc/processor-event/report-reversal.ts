import { v7 as uuidv7 } from 'uuid';
import type { CaptureReinstated, CaptureReversed } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { TakingBack } from '../../books/reversals.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { contradict } from '../../kinds/contradict.ts';
import { takenBackThere } from '../../processor/read-entries.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { isImported } from '../../storage/imported/import-marks.ts';
import { findEvent, type NamedEvent } from '../../storage/processor-event/processor-events.ts';
import type { Sent } from '../../storage/submission/find-sent.ts';
import type { Core } from '../core.ts';
import { invalidField, noResultYet } from '../refuse.ts';

/**
 * The card scheme took back a capture or a part of it, or gave again what it had taken. What is not known yet is
 * refused for now, and the processor reports it again; one about what is KO contradicts it. Nothing is booked in part:
 * more than there is to take back or to give again is refused. Only what an import from the processor's books has
 * already booked is left out.
 */
export async function takenBack(
  core: Core,
  kind: TakingBack['kind'],
  sent: Sent,
  { amount, reference, ...event }: CaptureReversed | CaptureReinstated,
  remembered: NamedEvent,
): Promise<void> {
  const { requestId, state } = sent;
  const isCapture = sent.kind === 'CAPTURE';
  if (state !== 'OK' && state !== 'KO') throw noResultYet(isCapture ? 'the capture' : 'the hold');
  const holdRequestId = sent.holdRequestId ?? requestId;
  if (state === 'KO') return contradictResult(core, kind, sent, { amount, reference }, remembered);
  const captureRequestId = isCapture ? requestId : undefined;
  const there = thereIfImported(core, sent);
  const taking = { requestId: uuidv7(), kind, holdRequestId, captureRequestId, amount, reference, there };
  const became = await core.books.takeBack({ ...taking, event: remembered, at: core.clock() });
  if (became === 'BOOKED') return;
  if (became === 'REFUNDING') throw noResultYet('a refund of the capture');
  if ('reversalEventId' in event) throw await notTakenBack(core, event.reversalEventId, remembered.processor);
  throw await tooMuch(core, taking);
}

/** Reads what is taken back at the processor, if some was imported from its books: the event may be booked already. */
function thereIfImported({ database: { query }, processors }: Core, sent: Sent): TakingBack['there'] {
  return async (hold, capture) => {
    if (!(await isImported(query, sent.requestId, 'TAKEN_BACK'))) return undefined;
    return takenBackThere(sent.processor, processors.of(sent), hold, capture);
  };
}

/** What is taken back was charged, though it was told as failed. */
function contradictResult(
  core: Core,
  kind: TakingBack['kind'],
  { requestId, holdRequestId, merchantId, currency }: Sent,
  { amount, reference }: Pick<TakingBack, 'amount' | 'reference'>,
  { id: eventId, processor }: NamedEvent,
): Promise<void> {
  const about = { requestId, holdRequestId: holdRequestId ?? requestId, merchantId, processor, currency };
  const told = kind === 'REVERSAL' ? 'REVERSED' : 'REINSTATED';
  const said = { kind: 'RESULT', told, kept: 'KO', toldAmount: amount, reference, freezes: 'UNKNOWN_CHARGE' } as const;
  return contradict(core, about, said, { source: 'EVENT', eventId });
}

/** Why that much cannot be given again: the reversal may be known later, or the event is wrong. */
async function notTakenBack(core: Core, reversalEventId: string, processor: string): Promise<HoldfastError> {
  const reversal = reversalEventId && (await findEvent(core.database.query, reversalEventId, processor));
  if (reversal) return invalidField('amount', 'is more than what was taken back');
  return new HoldfastError('UNAVAILABLE', 'the reversal is not known yet', { retryAfterS: 1 });
}

/** Why that much cannot be taken back: a capture may be known later, or the event is wrong. */
async function tooMuch(
  core: Core,
  { holdRequestId, captureRequestId }: Pick<TakingBack, 'holdRequestId' | 'captureRequestId'>,
): Promise<HoldfastError> {
  if (captureRequestId !== undefined) return invalidField('amount', 'is more than what is left of the capture');
  const hold = await findHold(core.database.query, holdRequestId);
  if (hold && hold.inFlight > 0n) return noResultYet('a capture of the hold');
  return invalidField('amount', 'is more than what is left of the captures');
}
