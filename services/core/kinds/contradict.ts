import type { Contradiction, Told } from '../domain/contradiction.ts';
import { type About, contradictionRow, storeContradiction } from '../storage/contradiction/contradictions.ts';
import type { Sender } from './sender.ts';

/**
 * Keeps a processor's statement that differs from our books, or from a told result, for an operator; freezes the hold
 * when `said` asks for it; raises the alert. A repetition changes nothing. Every contradiction comes here, except
 * amounts that a settling statement keeps together with the books.
 */
export async function contradict(
  { database, clock, log }: Pick<Sender, 'database' | 'clock' | 'log'>,
  about: About,
  said: Contradiction,
  told: Told,
): Promise<void> {
  await storeContradiction(database.query, contradictionRow(about, said, told, clock()));
  logContradiction(log, about, said, told);
}

/** Logs a contradiction. Its alert is raised by the open contradictions in the database. */
export function logContradiction(log: Sender['log'], about: About, said: Contradiction, told: Told): void {
  const { requestId, holdRequestId, processor } = about;
  log.error('contradicting_event', {
    requestId,
    holdRequestId: holdRequestId ?? undefined,
    processor,
    kind: said.kind,
    told: said.told,
    kept: said.kept,
    reason: told.source,
    eventId: told.eventId,
  });
}
