import { v7 as uuidv7 } from 'uuid';
import { isStored } from '../books/request.ts';
import { callOverAt } from '../processor/processor.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { onHold, type Sender, type SubmissionFacts } from './facts.ts';
import { send } from './send.ts';
import { settle } from './settle.ts';

/**
 * Ends a hold by itself: gives back what remains because its period or its checkout is over, or books that it ended at
 * the processor, which is not asked then. Does nothing while a capture or release of it is in flight.
 */
export async function endHold(
  sender: Sender,
  { idHash, endedAs }: Pick<HoldRow, 'idHash' | 'endedAs'>,
  { imported }: Pick<SubmissionFacts, 'imported'> = {},
): Promise<void> {
  const at = sender.clock();
  const reported = endedAs != null;
  const kind = endedAs === 'RELEASED' ? 'RELEASE' : 'EXPIRY';
  const request = {
    kind,
    requestId: uuidv7(),
    idHash,
    reported,
    at,
    inquireAt: callOverAt(sender.processors, at),
  } as const;
  const stored = await sender.books.store(request);
  const { hold, amount = 0n } = stored;
  if (!isStored(stored) || !hold) return;
  const facts: SubmissionFacts = {
    kind,
    requestId: request.requestId,
    ...onHold(hold),
    amount,
    reported,
    imported,
    amountReleased: hold.endedAmount,
    processorReference: hold.endedReference,
  };
  await settle(sender, facts, await send(sender, facts));
}
