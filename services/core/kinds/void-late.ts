import { v7 as uuidv7 } from 'uuid';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { hasLateVoid } from '../storage/submission/read-submissions.ts';
import type { Booker } from './facts.ts';

/** Sees to it that the authorization of a failed hold is given back, once; recovery sends the void. */
export async function voidLate(
  { database, books, clock, log }: Booker,
  { requestId: holdRequestId, idHash }: Pick<HoldRow, 'requestId' | 'idHash'>,
): Promise<void> {
  if (await hasLateVoid(database.query, holdRequestId)) return;
  const at = clock();
  await books.store({ kind: 'LATE_VOID', requestId: uuidv7(), idHash, at, inquireAt: at });
  log.warn('late_authorization', { requestId: holdRequestId });
}
