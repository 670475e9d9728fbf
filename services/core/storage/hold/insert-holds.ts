import { CLAIMED } from '../claim/claim-row.ts';
import { sentUnderKey } from '../claim/key-identifier.ts';
import { type Query, sql } from '../database.ts';
import { inputColumns, type NewRow } from '../input-columns.ts';
import {
  CALL_INPUT,
  type CallInput,
  IS_LATE,
  LOST,
  MAY_BE_LOST,
  OUTCOMES,
  SENT_COLUMNS,
  type Stored,
  storeEach,
} from '../submission/store-submissions.ts';
import type { HoldRow } from './hold-row.ts';

/** What is stored of a new hold, with the types of the columns; the others begin as INSERT_HOLDS says. */
const COLUMNS = {
  ...SENT_COLUMNS,
  terminalId: 'text',
  userId: 'text',
  tokenId: 'text',
  phase: 'text',
  idHash: 'bytea',
  idKey: 'text',
  allowMultipleCaptures: 'boolean',
  notifyHolds: 'boolean',
  notifyExpiringHours: 'int',
  holdPeriodS: 'int',
  merchantReference: 'text',
  description: 'text',
  customerPresent: 'boolean',
  expectedCaptureAt: 'timestamptz',
  captureAt: 'timestamptz',
  releaseAt: 'timestamptz',
  renews: 'uuid',
  metadata: 'jsonb',
  returnUrl: 'text',
  saveCard: 'boolean',
  checkoutExpiresAt: 'timestamptz',
} as const satisfies Partial<Record<keyof HoldRow, string>>;

/** A new hold, before the processor is asked, and the call that it comes of. */
export type HoldInput = NewRow<HoldRow, keyof typeof COLUMNS> & CallInput;

/** Stores new holds. */
export function insertHolds(query: Query, holds: readonly HoldInput[]): Promise<ReadonlyMap<HoldInput, Stored>> {
  return storeEach(query, INSERT_HOLDS, holds, (hold) => ({
    ...hold,
    amount: hold.amount.toString(),
    idHash: `\\x${hold.idHash.toString('hex')}`,
  }));
}

const HOLD = inputColumns(COLUMNS);

export const INSERT_HOLDS = sql('insert-holds')`with input as materialized (
    select i.*, sent.*, ${IS_LATE}, ${MAY_BE_LOST}
    from json_to_recordset($1::json) as i(${CALL_INPUT},
      ${HOLD.definitions})
    ${LOST}
    ${sentUnderKey('hold')}
  ),
  admissible as materialized (select * from input where not late and not met and not maybe_lost),
  ${CLAIMED},
  stored as (
    insert into hold (processor_request_id, amount_asked, releases_old, inquiry_count, status, captured, in_flight,
      remaining, released, reversed, closing, frozen,
      ${HOLD.table})
    select "sentAs", amount, renews is not null, 0, 'IN_PROGRESS', 0, 0, 0, 0, 0, false, false,
      ${HOLD.values}
    from admissible where "requestId" in (select request_id from claimed)
  )
  ${OUTCOMES}`;
