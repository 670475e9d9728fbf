import { v7 as uuidv7 } from 'uuid';
import type { CaptureReinstated, CaptureReversed } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { type TakingBack, takeBack } from '../../books/take-back.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { freezeHold } from '../../storage/hold/change-hold.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import { findEvent } from '../../storage/processor-event/processor-event.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { findSent, noResultYet, type Reporting } from './find-sent.ts';

/**
 * The card scheme took back a capture or a part of it, or gave again what it had taken. What is not known yet is refused for now, and the
 * processor reports it again; one about what is KO contradicts it. Nothing is booked in part: more than there is to take back or to give
 * again is refused.
 */
export async function takenBack(
  core: Reporting,
  kind: TakingBack['kind'],
  event: CaptureReversed | CaptureReinstated,
  remembered: TakingBack['event'],
): Promise<void> {
  const subject = await subjectOf(core, event);
  if (subject.isKo) return contradict(core, kind, subject);
  const { holdRequestId, captureRequestId } = subject;
  const { amount, reference } = event;
  const taking = { requestId: uuidv7(), kind, holdRequestId, captureRequestId, amount, reference };
  const became = await takeBack(core.books, { ...taking, event: remembered, at: core.clock() });
  if (became === 'TOO_MUCH') throw await tooMuch(core, event, subject);
}

/** What an event is about: a capture, or a hold of which some capture was meant. */
interface TakenSubject {
  readonly holdRequestId: string;
  readonly captureRequestId?: string | undefined;
  readonly isKo: boolean;
}

async function subjectOf(core: Reporting, event: CaptureReversed | CaptureReinstated): Promise<TakenSubject> {
  const { captureRequestId: ofCapture, authorizationRequestId: ofHold } = event;
  const isCapture = ofCapture !== '';
  const found = isCapture ? await findSent(core, 'capture', ofCapture) : await findSent(core, 'hold', ofHold);
  const { requestId, holdRequestId, state } = found;
  if (state !== 'OK' && state !== 'KO') throw noResultYet(isCapture ? 'the capture' : 'the hold');
  const isKo = state === 'KO';
  return { holdRequestId: holdRequestId ?? requestId, captureRequestId: isCapture ? requestId : undefined, isKo };
}

async function contradict(core: Core, kind: TakingBack['kind'], subject: TakenSubject): Promise<void> {
  const { holdRequestId, captureRequestId } = subject;
  const told = kind === 'REVERSAL' ? 'REVERSED' : 'REINSTATED';
  core.log.error('contradicting_event', { requestId: captureRequestId ?? holdRequestId, told, kept: 'KO' });
  await freezeHold(core.database.query, holdRequestId);
}

/** Why there is not so much: a capture or a reversal may be known later, or the event is wrong. */
async function tooMuch(
  core: Core,
  event: CaptureReversed | CaptureReinstated,
  { holdRequestId, captureRequestId }: TakenSubject,
): Promise<HoldfastError> {
  const { query } = core.database;
  if ('reversalEventId' in event) {
    const isKnown = event.reversalEventId !== '' && (await findEvent(query, event.reversalEventId)) !== undefined;
    if (isKnown) return invalidField('amount', 'is more than what was taken back');
    return new HoldfastError('UNAVAILABLE', 'the reversal is not known yet', { retryAfterS: 1 });
  }
  if (captureRequestId !== undefined) return invalidField('amount', 'is more than what is left of the capture');
  const hold = await findHold(query, holdRequestId);
  if (hold && hold.inFlight > 0n) return noResultYet('a capture of the hold');
  return invalidField('amount', 'is more than what is left of the captures');
}
