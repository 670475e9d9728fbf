import type { AttemptState } from '../../domain/operation.ts';
import { tableOf } from '../../settlement/settle-attempt.ts';
import type { AttemptTable } from '../../storage/attempts.ts';
import { CaptureEntity } from '../../storage/capture.ts';
import { HoldEntity, type HoldRow } from '../../storage/hold.ts';
import { OctEntity } from '../../storage/oct.ts';
import { ReleaseEntity } from '../../storage/release.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';

/** An attempt as an operator's decision finds it. */
export interface Reviewed {
  readonly table: AttemptTable;
  readonly state: AttemptState;
  /** The hold itself, or the one that the attempt belongs to; an OCT has none. */
  readonly holdRequestId?: string;
  readonly frozen: boolean;
}

/** Looks up an attempt; undefined when there is none of that name. */
export async function findReviewed(core: Core, requestId: string): Promise<Reviewed | undefined> {
  const table = isUuid(requestId) ? await tableOf(core.database, requestId) : undefined;
  if (table === undefined) return undefined;
  const em = core.database.orm.em.fork();
  if (table === 'oct') {
    return { table, state: (await em.findOneOrFail(OctEntity, { requestId })).state, frozen: false };
  }
  if (table === 'hold') {
    const hold = await em.findOneOrFail(HoldEntity, { requestId });
    return { table, state: STATE_OF_PHASE[hold.phase], holdRequestId: requestId, frozen: hold.frozen };
  }
  const { state, holdRequestId } =
    table === 'capture'
      ? await em.findOneOrFail(CaptureEntity, { requestId })
      : await em.findOneOrFail(ReleaseEntity, { requestId });
  const { frozen } = await em.findOneOrFail(HoldEntity, { requestId: holdRequestId });
  return { table, state, holdRequestId, frozen };
}

const STATE_OF_PHASE: Readonly<Record<HoldRow['phase'], AttemptState>> = {
  AWAITING_CHECKOUT: 'PENDING',
  AUTHORIZING: 'PENDING',
  UNKNOWN: 'UNKNOWN',
  NEEDS_REVIEW: 'NEEDS_REVIEW',
  AUTHORIZED: 'OK',
  FAILED: 'KO',
};
