import type { Query, Statement } from './database.ts';

/** Freezes what remains of a hold: nothing more is captured until an operator has looked. */
export async function freezeHold(query: Query, requestId: string): Promise<void> {
  await query(FREEZE_HOLD, [requestId]);
}

const FREEZE_HOLD: Statement = { name: 'freeze-hold', text: 'update hold set frozen = true where request_id = $1' };
