import { AGAIN, type CallerPatience } from '../../../platform/gather.ts';
import { type HoldState, judgeCapture } from '../domain/hold.ts';
import {
  type CaptureInput,
  type CaptureSubject,
  readCaptureSubjects,
  reserveCaptures,
} from '../storage/capture/reserve-captures.ts';
import type { Database } from '../storage/database.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import type { KeyInput } from '../storage/idempotency-key/idempotency-key.ts';
import { deadlineOf, type Reservation } from './outcomes.ts';

/** A requested capture. */
export interface Capturing {
  readonly requestId: string;
  readonly idHash: Buffer;
  /** Undefined = an operator's call, for any merchant. */
  readonly merchantId: string | undefined;
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture: boolean;
  /** Its identifier at the processor; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly key?: KeyInput | undefined;
  readonly patience?: CallerPatience | undefined;
  readonly at: Date;
  readonly inquireAt: Date;
}

type Judged =
  | { readonly reserved: true; readonly hold: ReadHold; readonly processorRequestId: null }
  | (Reservation & { readonly reserved: false });

/** Judges and reserves captures of different holds: reads each hold, judges, and writes if the hold has not changed since. */
export async function reserveGatheredCaptures(
  { query }: Database,
  capturings: readonly Capturing[],
): Promise<(Reservation | typeof AGAIN)[]> {
  const subjects = await readCaptureSubjects(query, capturings);
  const judged = capturings.map((capturing, index) => judge(capturing, subjects[index]));
  const admitted = judged.flatMap((judgement, index) => {
    const capturing = capturings[index];
    return judgement.reserved && capturing ? [captureInput(capturing, judgement.hold)] : [];
  });
  if (admitted.length === 0) return judged;
  const outcomes = await reserveCaptures(query, admitted);
  const outcomeOf = new Map(admitted.map(({ requestId }, index) => [requestId, outcomes[index]]));
  return judged.map((judgement, index) => {
    const outcome = outcomeOf.get(capturings[index]?.requestId ?? '');
    if (outcome === undefined || !judgement.reserved) return judgement;
    if (outcome === AGAIN) return AGAIN;
    const { hold } = judgement;
    if (outcome.outcome !== 'STORED') return { reserved: false, refusal: outcome.outcome, hold };
    return { reserved: true, hold, processorRequestId: outcome.processorRequestId };
  });
}

function judge(capturing: Capturing, subject: CaptureSubject | undefined): Judged {
  const hold = subject?.hold;
  if (subject?.isKnown) {
    return { reserved: false, refusal: 'REPEATED', hold, processorRequestId: subject.processorRequestId };
  }
  if (!hold || (capturing.merchantId !== undefined && hold.merchantId !== capturing.merchantId)) {
    return { reserved: false, refusal: 'PREAUTHORIZATION_NOT_FOUND' };
  }
  const refusal = judgeCapture(hold satisfies HoldState, capturing, capturing.at);
  return refusal ? { reserved: false, refusal, hold } : { reserved: true, hold, processorRequestId: null };
}

function captureInput(capturing: Capturing, hold: ReadHold): CaptureInput {
  return {
    requestId: capturing.requestId,
    holdRequestId: hold.requestId,
    merchantId: hold.merchantId,
    amount: capturing.amount.toString(),
    currency: hold.currency,
    finalCapture: capturing.finalCapture,
    closing: capturing.finalCapture || !hold.allowMultipleCaptures,
    processor: hold.processor,
    processorAccount: hold.processorAccount,
    processorRequestId: capturing.processorRequestId,
    imported: capturing.imported,
    createdAt: capturing.at.toISOString(),
    inquireAt: capturing.inquireAt.toISOString(),
    version: hold.version,
    deadline: deadlineOf(capturing.patience),
    key: capturing.key,
  };
}
