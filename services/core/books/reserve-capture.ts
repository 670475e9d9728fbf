import { AGAIN } from '../../../platform/gather.ts';
import { judgeCapture } from '../domain/hold.ts';
import {
  type CaptureInput,
  type CaptureSubject,
  readCaptureSubjects,
  reserveCaptures,
} from '../storage/capture/write-captures.ts';
import type { Database } from '../storage/database.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import { isOwn, type Requested, type Reservation, reservationInput, reservationOf } from './reservation.ts';

/** A requested capture. */
export interface Capturing extends Requested {
  readonly idHash: Buffer;
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture: boolean;
}

/** Judges and reserves captures of different holds: reads each hold, judges, and writes if the hold has not changed since. */
export async function reserveGatheredCaptures(
  { query }: Database,
  capturings: readonly Capturing[],
): Promise<(Reservation | typeof AGAIN)[]> {
  const subjects = await readCaptureSubjects(query, capturings);
  const judged = capturings.map((capturing, index) => judge(capturing, subjects[index]));
  const admitted = judged.flatMap((judgement) => ('input' in judgement ? [judgement.input] : []));
  const stored = admitted.length === 0 ? [] : await reserveCaptures(query, admitted);
  const outcomeOf = new Map(admitted.map((input, index) => [input, stored[index]]));
  return judged.map((judgement) => {
    if (!('input' in judgement)) return judgement;
    const outcome = outcomeOf.get(judgement.input) ?? AGAIN;
    return outcome === AGAIN ? AGAIN : reservationOf(judgement.hold, outcome);
  });
}

type Admitted = { readonly hold: ReadHold; readonly input: CaptureInput };

function judge(capturing: Capturing, subject: CaptureSubject | undefined): Reservation | Admitted {
  const hold = subject?.hold;
  if (!isOwn(hold, capturing)) return { reserved: false, refusal: 'PREAUTHORIZATION_NOT_FOUND' };
  if (subject?.isKnown) return { reserved: false, refusal: 'REPEATED', hold };
  const refusal = judgeCapture(hold, capturing, capturing.at);
  if (refusal) return { reserved: false, refusal, hold };
  const { amount, finalCapture } = capturing;
  const closing = finalCapture || !hold.allowMultipleCaptures;
  return { hold, input: { ...reservationInput(capturing, hold), amount: amount.toString(), finalCapture, closing } };
}
