import type { Contradiction, Told } from '../domain/contradiction.ts';
import { type About, contradictionRow, storeContradiction } from '../storage/contradiction/contradictions.ts';
import type { Sender } from './sender.ts';

/**
 * Keeps what a processor says against what was kept or told, for an operator, freezes the hold when it says so, and
 * raises the alert. Repeated, it changes nothing. Everything that contradicts comes here, but for amounts that the
 * statement that settles keeps together with the books.
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

/** The line that names it; its alert is raised by what is open in the database. */
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
