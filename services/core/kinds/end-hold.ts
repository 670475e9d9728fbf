import { v7 as uuidv7 } from 'uuid';
import { reserveHoldRelease } from '../books/reserve-release.ts';
import { identifierOf } from '../domain/operation.ts';
import { callOverAt } from '../processor/processor.ts';
import type { DueHold } from '../storage/hold/find-due-holds.ts';
import { ask } from './ask.ts';
import type { Asker } from './kind.ts';
import { RELEASE } from './release.ts';

type Ending = Omit<DueHold, 'endedAs'> & Partial<Pick<DueHold, 'endedAs'>>;

/**
 * Ends a hold by itself: gives back what remains because its period or its checkout is over, or books that it ended at the processor,
 * which is not asked then. Does nothing while a capture or release of it is in flight.
 */
export async function endHold(asker: Asker, due: Ending): Promise<void> {
  const { requestId: holdRequestId, merchantId, processor, processorAccount, endedAs } = due;
  const at = asker.clock();
  const reported = endedAs != null;
  const requestId = uuidv7();
  const release = { requestId, holdRequestId, merchantId, reason: endedAs ?? 'EXPIRED', reported } as const;
  const reservation = await reserveHoldRelease(asker.books, {
    ...release,
    at,
    inquireAt: callOverAt(asker.processors, at),
  });
  if (!reservation.reserved) return;
  const { endedAmount: amountReleased, endedReference: processorReference } = reservation.hold;
  const authorizationRequestId = identifierOf(due);
  await ask(asker, RELEASE, {
    ...{ ...release, processor, processorAccount, authorizationRequestId },
    ...{ amountReleased, processorReference },
  });
}
