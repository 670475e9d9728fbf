import type { Query, Statement } from '../database.ts';

/** Freezes what remains of a hold: captures and releases are rejected until an operator unfreezes it. It still expires. */
export async function freezeHold(query: Query, requestId: string): Promise<void> {
  await query(FREEZE_HOLD, [requestId]);
}

/** Lets what remains of a hold be captured or released again. */
export async function unfreezeHold(query: Query, requestId: string): Promise<void> {
  await query(UNFREEZE_HOLD, [requestId]);
}

const FREEZE_HOLD: Statement = { name: 'freeze-hold', text: 'update hold set frozen = true where request_id = $1' };
const UNFREEZE_HOLD: Statement = {
  name: 'unfreeze-hold',
  text: 'update hold set frozen = false where request_id = $1',
};
