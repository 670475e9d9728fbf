import { v7 as uuidv7 } from 'uuid';
import { isStored } from '../books/request.ts';
import { callOverAt } from '../processor/processor.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { onHold, type Sender } from './facts.ts';
import { send } from './send.ts';
import { settle } from './settle.ts';

/**
 * Captures what remains of a hold, because its captureAt is due. Does nothing while something of it is in flight, while
 * it is frozen, and when it was done before.
 */
export async function captureRest(sender: Sender, { idHash }: Pick<HoldRow, 'idHash'>): Promise<void> {
  const at = sender.clock();
  const requestId = uuidv7();
  const inquireAt = callOverAt(sender.processors, at);
  const stored = await sender.books.store({ kind: 'CAPTURE', requestId, idHash, automatic: true, at, inquireAt });
  const { hold, amount = 0n } = stored;
  if (!isStored(stored) || !hold) return;
  const facts = { kind: 'CAPTURE', requestId, ...onHold(hold), amount, finalCapture: true } as const;
  await settle(sender, facts, await send(sender, facts));
}
