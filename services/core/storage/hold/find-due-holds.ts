import type { AtProcessor } from '../at-processor.ts';
import { byTurns, type Due, type Search, type Searched, unindexed } from '../by-turns.ts';
import type { HoldRow } from './hold-row.ts';

/** A placed hold that is due for something it does by itself. */
export type DueHold = Due & Pick<HoldRow, 'requestId' | 'idHash' | 'endedAs' | 'captureAt' | 'autoCaptureId'>;

const SELECT = 's.request_id, s.id_hash, s.ended_as, s.capture_at, s.auto_capture_id';

/** SQL: the condition of partial indexes over open holds. */
const IS_OPEN = `s.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and s.phase = 'AUTHORIZED'`;

/** SQL: with nothing in flight. */
const IS_IDLE = 's.in_flight = 0 and not s.closing';

/** SQL: the remaining amount is not in doubt, as waitsForOperator() says. */
const IS_LEFT = `coalesce(s.frozen_because, 'RESULT_CONTRADICTED') = 'RESULT_CONTRADICTED'`;

const findOver = byTurns<DueHold>({
  name: 'find-due-holds',
  table: 'hold',
  index: IS_OPEN,
  due: 'expires_at',
  select: SELECT,
  where: `s.changing is null and ${IS_LEFT} and s.ended_as is null and ${IS_IDLE}`,
});

const findToRelease = byTurns<DueHold>({
  name: 'find-holds-to-release',
  table: 'hold',
  index: `s.release_at is not null and ${IS_OPEN}`,
  due: 'release_at',
  select: SELECT,
  where: `s.changing is null and ${IS_LEFT} and s.ended_as is null and ${IS_IDLE}`,
});

const findEnded = byTurns<DueHold>({
  name: 'find-ended-holds',
  table: 'hold',
  index: `s.ended_as is not null and s.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')`,
  due: 'created_at',
  select: SELECT,
  where: `${unindexed(`s.phase = 'AUTHORIZED'`)} and s.changing is null and ${IS_LEFT} and ${IS_IDLE}`,
});

/**
 * Finds the holds that are due to end: at or before the end of their period, or because their authorization ended at
 * the processor; about a third of `limit` of each sort at most.
 */
export async function findDueHolds(database: Searched, search: Search, at: AtProcessor): Promise<DueHold[]> {
  const third = { ...search, limit: Math.ceil(search.limit / 3) };
  const found = await Promise.all([findOver, findToRelease, findEnded].map((find) => find(database, third, at)));
  return [...new Map(found.flat().map((hold) => [hold.requestId, hold])).values()];
}

/**
 * Finds holds that are due to capture what remains, also those whose end is due by now. One that is frozen, or has
 * something in flight, waits.
 */
export const findHoldsToCapture = byTurns<DueHold>({
  name: 'find-holds-to-capture',
  table: 'hold',
  index: `s.capture_at is not null and s.auto_capture_id is null and ${IS_OPEN}`,
  due: 'capture_at',
  select: SELECT,
  where: `s.changing is distinct from 'INCREMENT' and not s.frozen and s.ended_as is null
    and s.capture_at < least(s.expires_at, s.release_at) and ${IS_IDLE}`,
});

/** Finds holds that are due to renew themselves. */
export const findHoldsToRenew = byTurns<DueHold>({
  name: 'find-holds-to-renew',
  table: 'hold',
  index: `s.renew_at is not null and ${IS_OPEN}`,
  due: 'renew_at',
  select: SELECT,
  where: `s.renewal_id is null and s.to_void is null and s.changing is null and not s.frozen and s.ended_as is null
    and s.remaining > 0 and least(s.expires_at, s.release_at, s.keep_until) > $1 and ${IS_IDLE}`,
});

/** A hold one of whose authorizations is to be given back. */
export type HoldToVoid = Due & Pick<HoldRow, 'requestId' | 'idHash'> & { readonly toVoid: string };

/** Finds holds whose renewal has left an authorization to give back. */
export const findHoldsToVoid = byTurns<HoldToVoid>({
  name: 'find-holds-to-void',
  table: 'hold',
  index: 's.to_void is not null',
  due: 'created_at',
  select: 's.request_id, s.id_hash, s.to_void',
  where: 'true',
});
