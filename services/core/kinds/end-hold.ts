import { drawId } from '../../../platform/draw-id.ts';
import type { HoldRequest } from '../books/submission-request.ts';
import { givenBackOtherwise, type Told } from '../domain/contradiction.ts';
import { isOpen } from '../domain/hold-rules.ts';
import { authorizationOf } from '../domain/kept-hold.ts';
import { callOverAt } from '../processor/processor.ts';
import { contradictionRow } from '../storage/contradiction/contradictions.ts';
import { addingTo, type EndAtProcessor, markEnded } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { readHolds } from '../storage/hold/read-holds.ts';
import { logContradiction } from './contradict.ts';
import { type Performed, perform } from './perform.ts';
import type { Sender } from './sender.ts';

/**
 * Ends a hold by itself: gives back what remains because its period or its checkout is over, or books that it ended at
 * the processor, which is not asked then. Does nothing while a capture or release of it is in flight.
 */
export async function endHold(
  sender: Sender,
  { idHash, endedAs }: Pick<HoldRow, 'idHash' | 'endedAs'>,
  { imported }: Pick<HoldRequest, 'imported'> = {},
): Promise<void> {
  const kind = endedAs === 'RELEASED' ? 'RELEASE' : 'EXPIRY';
  await performBySystem(sender, { kind, idHash, reported: endedAs != null, imported });
}

/**
 * Notes that the authorization of an open hold ended at the processor: nothing more can be captured. Operations in
 * flight, increments included, may or may not have been done before. When the amount given back fits neither case, it
 * is kept as a contradiction, and the hold does not end before an operator has looked. An authorization that a renewal
 * has replaced may end. Returns the hold afterwards.
 */
export async function noteEnd(sender: Sender, ended: EndAtProcessor, told: Told): Promise<HoldRow | undefined> {
  const { query } = sender.database;
  const { requestId, authorization, amount, reference } = ended;
  while (true) {
    const [hold] = await readHolds(query, [requestId]);
    if (hold?.phase !== 'AUTHORIZED' || !isOpen(hold) || hold.endedAs != null) return hold;
    if (authorizationOf(hold) !== authorization) return hold;
    const { remaining, inFlight, merchantId, processor, currency } = hold;
    const adding = hold.changing === 'INCREMENT' ? await addingTo(query, requestId) : 0n;
    const left = { least: remaining, most: remaining + inFlight + adding };
    const otherwise = givenBackOtherwise('AMOUNT_ENDED', amount, left);
    const about = { requestId, holdRequestId: requestId, merchantId, processor, currency };
    const row = otherwise && contradictionRow(about, { ...otherwise, reference }, told, sender.clock());
    // A hold that has changed meanwhile is compared again.
    if (!(await markEnded(query, hold.version, ended, row))) continue;
    if (otherwise) logContradiction(sender.log, about, otherwise, told);
  }
}

/** Performs an operation on a hold that core itself initiates. NOT_STORED = another one of the hold came first. */
export function performBySystem(
  sender: Sender,
  act: Pick<HoldRequest, 'kind' | 'idHash' | 'automatic' | 'reported' | 'imported'>,
): Promise<Performed> {
  const at = sender.clock();
  return perform(sender, { ...act, requestId: drawId(), at, inquireAt: callOverAt(sender.processors, at) });
}
