import assert from 'node:assert/strict';
import { type Query, sql } from '../database.ts';
import { TIMELINE } from '../reconciling.ts';

/** The newest change of any merchant. Numbers are in the order of commits, on one timeline. */
export interface ChangePosition {
  /** PostgreSQL's; a new one may lack changes of the old one. */
  readonly timeline: string;
  readonly changeNumber: bigint;
}

export async function readChangePosition(query: Query): Promise<ChangePosition> {
  const [position] = await query<ChangePosition>(READ_POSITION, []);
  assert(position, 'an aggregate has a row');
  return position;
}

const READ_POSITION = sql('read-change-position')`
    select ${TIMELINE} as timeline, coalesce(max(change_number), 0) as change_number from merchant`;

/** Returns the ids of the merchants that changed after a change number. */
export async function readChangedMerchants(query: Query, after: bigint): Promise<string[]> {
  const rows = await query<{ id: string }>(READ_CHANGED, [after]);
  return rows.map(({ id }) => id);
}

const READ_CHANGED = sql('read-changed-merchants')`select id from merchant where change_number > $1`;
