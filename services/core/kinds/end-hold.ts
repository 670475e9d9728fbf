import { v7 as uuidv7 } from 'uuid';
import { type HoldRequest, isStored } from '../books/submission-request.ts';
import { callOverAt } from '../processor/processor.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { onHold, type Sender, type SubmissionFacts } from './facts.ts';
import { send } from './send-to-processor.ts';
import { type Settlement, settle } from './settle-outcome.ts';

/**
 * Ends a hold by itself: gives back what remains because its period or its checkout is over, or books that it ended at
 * the processor, which is not asked then. Does nothing while a capture or release of it is in flight.
 */
export async function endHold(
  sender: Sender,
  { idHash, endedAs }: Pick<HoldRow, 'idHash' | 'endedAs'>,
  { imported }: Pick<SubmissionFacts, 'imported'> = {},
): Promise<void> {
  const kind = endedAs === 'RELEASED' ? 'RELEASE' : 'EXPIRY';
  await actUnasked(sender, { kind, idHash, reported: endedAs != null, imported });
}

/**
 * Does something with a hold that nobody calls for: stores, sends and settles it. Undefined = nothing was done, because
 * something else of the hold came first.
 */
export async function actUnasked(
  sender: Sender,
  act: Pick<HoldRequest, 'kind' | 'idHash' | 'automatic' | 'reported' | 'imported'>,
): Promise<Settlement | undefined> {
  const { kind, automatic, reported, imported } = act;
  const at = sender.clock();
  const requestId = uuidv7();
  const stored = await sender.books.store({ ...act, requestId, at, inquireAt: callOverAt(sender.processors, at) });
  if (!isStored(stored) || !stored.hold) return undefined;
  const { hold, amount } = stored;
  const facts: SubmissionFacts = {
    kind,
    requestId,
    ...onHold(hold),
    amount,
    finalCapture: automatic,
    reported,
    imported,
    amountReleased: hold.endedAmount,
    processorReference: hold.endedReference,
  };
  return settle(sender, facts, await send(sender, facts));
}
