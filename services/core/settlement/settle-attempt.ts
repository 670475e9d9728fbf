import type { Log } from '../../../proto/log.ts';
import type { Books } from '../books/books.ts';
import type { Clock } from '../clock.ts';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import type { AttemptTable } from '../storage/attempts.ts';
import { CaptureEntity } from '../storage/capture.ts';
import type { Database } from '../storage/database.ts';
import { freezeHold } from '../storage/freeze-hold.ts';
import { HoldEntity } from '../storage/hold.ts';
import { OctEntity } from '../storage/oct.ts';
import { OperationEntity } from '../storage/operation.ts';
import { ReleaseEntity } from '../storage/release.ts';
import { settleVoid, voidLate } from './settle-void.ts';

/** What settling works with. */
export interface Settlement {
  readonly database: Database;
  readonly books: Books;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Settles an attempt by what the processor says about it after its call: from an inquiry, or an event. The first final result
 * stays; a later one that contradicts it changes nothing but freezes the hold and alerts, and an authorization that arrives for a
 * hold already FAILED is voided.
 */
export async function settleAttempt(
  settlement: Settlement,
  table: AttemptTable,
  requestId: string,
  outcome: FinalOutcome,
): Promise<void> {
  const { books, clock } = settlement;
  const em = settlement.database.orm.em.fork();
  const at = clock();
  if (table === 'hold') {
    const hold = await em.findOneOrFail(HoldEntity, { requestId });
    if (!(await books.settleHold({ hold, outcome, at }))) await cameLate(settlement, requestId, outcome, requestId);
  } else if (table === 'capture') {
    const { holdRequestId, amount, finalCapture } = await em.findOneOrFail(CaptureEntity, { requestId });
    const { idHash } = await em.findOneOrFail(HoldEntity, { requestId: holdRequestId });
    const end = { requestId, holdRequestId, holdKey: idHash.toString('hex'), amount, finalCapture, outcome, at };
    if (!(await books.settleCapture(end))) await cameLate(settlement, requestId, outcome, holdRequestId);
  } else if (table === 'release') {
    if (!(await settleVoid(settlement, requestId, outcome))) {
      const { holdRequestId } = await em.findOneOrFail(ReleaseEntity, { requestId });
      await cameLate(settlement, requestId, outcome, holdRequestId);
    }
  } else {
    const oct = await em.findOneOrFail(OctEntity, { requestId });
    if (!(await books.settleOct({ oct, outcome, at }))) await cameLate(settlement, requestId, outcome, undefined);
  }
}

/** Which table an identifier of ours is in. */
export async function tableOf(database: Database, requestId: string): Promise<AttemptTable | undefined> {
  const em = database.orm.em.fork();
  if (await em.findOne(HoldEntity, { requestId })) return 'hold';
  if (await em.findOne(CaptureEntity, { requestId })) return 'capture';
  if (await em.findOne(ReleaseEntity, { requestId })) return 'release';
  return (await em.findOne(OctEntity, { requestId })) ? 'oct' : undefined;
}

/** An outcome came after the attempt had ended: an approval of a failed hold is voided, and what contradicts the result freezes. */
async function cameLate(
  settlement: Settlement,
  requestId: string,
  outcome: FinalOutcome,
  holdRequestId: string | undefined,
): Promise<void> {
  const em = settlement.database.orm.em.fork();
  const kept = await em.findOne(OperationEntity, { requestId });
  const hold = holdRequestId ? await em.findOneOrFail(HoldEntity, { requestId: holdRequestId }) : undefined;
  if (hold && hold.requestId === requestId && hold.phase === 'FAILED') {
    if (isOk(outcome)) await voidLate(settlement, hold.requestId);
    return;
  }
  if (!kept) return;
  const wasDone = kept.statusInfo !== 'declined' && kept.statusInfo !== 'failed';
  if (wasDone === isOk(outcome)) return;
  settlement.log.error('contradicting_event', { requestId, holdRequestId, told: outcome.answer, kept: kept.status });
  if (hold) await freezeHold(settlement.database.query, hold.requestId);
}
