import { v7 as uuidv7 } from 'uuid';
import { reserveHoldRelease } from '../books/reserve-release.ts';
import { identifierOf } from '../domain/operation.ts';
import { ask } from '../kinds/ask.ts';
import type { Asker } from '../kinds/kind.ts';
import { RELEASE } from '../kinds/release.ts';
import { settleLate } from '../kinds/settle-late.ts';
import { callOverAt } from '../processor/processor.ts';
import { type Work, workOnce } from '../scheduling/work-loop.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { type DueHold, findDueHolds } from '../storage/hold/find-due-holds.ts';

const SLOTS = 200;
const INTERVAL_MS = 500;

/**
 * Gives back what remains of holds whose period is over, and gives up checkouts that ran out. A hold with a capture on its way is
 * left until that has its result. A frozen hold expires like any other: at the end of its period the bank gives the money back whatever
 * we say; freezing stops only what a merchant asks for, captures and releases.
 */
export function expiries(recovery: Asker, at: AtProcessor = AT_ANY_PROCESSOR): Work<DueHold> {
  return {
    name: 'expire-holds',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit) => findDueHolds(recovery.database.query, recovery.clock(), limit, at),
    handle: (hold) => (hold.phase === 'AUTHORIZED' ? expire(recovery, hold) : expireCheckout(recovery, hold)),
  };
}

/** Expires what is due, once. Resolves with how many holds that were. */
export function expireHolds(recovery: Asker): Promise<number> {
  return workOnce(expiries(recovery));
}

/** The customer may have finished in the last second: inquires first, which fences, so that no page can be opened any more. */
async function expireCheckout(recovery: Asker, hold: DueHold): Promise<void> {
  const answer = await recovery.processors.of(hold).inquire(hold);
  if (answer.found === 'DONE') return void (await settleLate(recovery, 'hold', hold.requestId, answer.outcome));
  if (answer.found === 'NO_ANSWER') return;
  await expire(recovery, hold);
}

async function expire(recovery: Asker, hold: DueHold): Promise<void> {
  const { requestId: holdRequestId, phase: _, processorRequestId: __, ...place } = hold;
  const at = recovery.clock();
  const expiry = { ...place, requestId: uuidv7(), holdRequestId, reason: 'EXPIRED' } as const;
  const inquireAt = callOverAt(recovery.processors, at);
  const { reserved } = await reserveHoldRelease(recovery.books, { ...expiry, at, inquireAt });
  if (reserved) await ask(recovery, RELEASE, { ...expiry, authorizationRequestId: identifierOf(hold) });
}
