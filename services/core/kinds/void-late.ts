import { v7 as uuidv7 } from 'uuid';
import { reserveHoldRelease } from '../books/reserve-release.ts';
import { hasLateVoid } from '../storage/release/release.ts';
import type { Settlement } from './kind.ts';

/** Sees to it that the authorization of a failed hold is given back, once; recovery sends the void. */
export async function voidLate({ database, books, clock, log }: Settlement, holdRequestId: string): Promise<void> {
  if (await hasLateVoid(database.query, holdRequestId)) return;
  const at = clock();
  await reserveHoldRelease(books, { requestId: uuidv7(), holdRequestId, reason: 'LATE', at, inquireAt: at });
  log.warn('late_authorization', { requestId: holdRequestId });
}
