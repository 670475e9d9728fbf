import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { resultOf as formOf, NO_RESULT, type ResultInit } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import type { Entry, State } from '../ledger/entry.ts';

/** How an operation ended, or that Adyen has taken it. */
export type Ending = Partial<State> & Pick<State, 'answer'>;

/** Done. */
export const APPROVED: Ending = { ...NO_RESULT, answer: Answer.APPROVED };

/** Whether it has not ended: Adyen has not answered, or has not notified the result. */
export function isOpen({ answer }: Pick<Entry, 'answer'>): boolean {
  return answer === Answer.UNSPECIFIED || answer === Answer.ACCEPTED;
}

/** The contract's form of how an entry ended. */
export function resultOf({ adjustments }: Pick<Desk, 'adjustments'>, entry: Entry): ResultInit {
  const timestamp = (date: Date | null) => (date ? timestampFromDate(date) : undefined);
  return formOf({
    ...entry,
    actedAt: timestamp(entry.actedAt),
    expiresAt: timestamp(entry.expiresAt),
    expectedBy: timestamp(entry.expectedBy),
    capabilities: capabilitiesOf(adjustments),
  });
}

/** One capture, which gives the rest back; increments and extensions of what was authorised as PreAuth. */
export function capabilitiesOf(adjustments: boolean) {
  return { severalCaptures: false, increments: adjustments, extension: adjustments, refunds: true };
}
