import { CLAIMED } from '../claim/claim-row.ts';
import { sentUnderKey } from '../claim/key-identifier.ts';
import { type Query, sql } from '../database.ts';
import { inputColumns, type NewRow } from '../input-columns.ts';
import {
  CALL_INPUT,
  type CallInput,
  IS_LATE,
  LOST,
  mayBeLost,
  outcomes,
  SENT_COLUMNS,
  type Stored,
  storeEach,
} from '../submission/store-submissions.ts';
import type { HoldRow } from './hold-row.ts';
import { versionOf } from './hold-version.ts';

/** The stored columns of a new hold, with their types. INSERT_HOLDS has the initial values of the others. */
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
  merchantReason: 'text',
  sentNetworkTransactionId: 'text',
  expectedCaptureAt: 'timestamptz',
  captureAt: 'timestamptz',
  releaseAt: 'timestamptz',
  keepUntil: 'timestamptz',
  renews: 'uuid',
  metadata: 'jsonb',
  returnUrl: 'text',
  saveCard: 'boolean',
  challenge: 'boolean',
  checkoutExpiresAt: 'timestamptz',
} as const satisfies Partial<Record<keyof HoldRow, string>>;

/** A new hold, before the processor is asked, and the call that it comes of. */
export type HoldInput = NewRow<HoldRow, keyof typeof COLUMNS> & CallInput;

/** A renewal of another hold, with the version of that hold at the time of the decision. */
export interface RenewalInput extends HoldInput {
  readonly renews: string;
  readonly version: string;
}

/** Stores new holds. */
export function insertHolds(query: Query, holds: readonly HoldInput[]): Promise<ReadonlyMap<HoldInput, Stored>> {
  return storeEach(query, INSERT_HOLDS, holds, asRow);
}

/** Stores holds that renew others, each of another one, where the old hold has not changed since it was judged. */
export function insertRenewals(query: Query, holds: readonly RenewalInput[]) {
  return storeEach(query, INSERT_RENEWALS, holds, asRow);
}

function asRow(hold: HoldInput): object {
  return { ...hold, amount: hold.amount.toString(), idHash: `\\x${hold.idHash.toString('hex')}` };
}

const HOLD = inputColumns(COLUMNS);

/** SQL: what both statements begin with, and what they store. */
const INPUT = `input as materialized (
    select i.*, sent.*, ${IS_LATE}, ${mayBeLost()}
    from json_to_recordset($1::json) as i(${CALL_INPUT}, version text,
      ${HOLD.definitions})
    ${LOST}
    ${sentUnderKey('hold')}
  )`;
const STORED = `stored as (
    insert into hold (processor_request_id, amount_asked, releases_old, inquiry_count, status, captured, in_flight,
      remaining, released, reversed, closing, frozen,
      ${HOLD.table})
    select "sentAs", amount, renews is not null, 0, 'IN_PROGRESS', 0, 0, 0, 0, 0, false, false,
      ${HOLD.values}
    from admissible where "requestId" in (select request_id from claimed)
    returning request_id as of_request, ${versionOf('hold')} as version
  )`;
const STORED_OUTCOMES = outcomes('v.version', 'left join stored v on v.of_request = i."requestId"');

export const INSERT_HOLDS = sql('insert-holds')`with ${INPUT},
  admissible as materialized (select * from input where not late and not met and not maybe_lost),
  ${CLAIMED},
  ${STORED}
  ${STORED_OUTCOMES}`;

/** As STORE_SUBMISSIONS writes on a hold: the old one keeps which hold renews it, so that a hold has one renewal. */
const INSERT_RENEWALS = sql('insert-renewals')`with ${INPUT},
  admissible as materialized (
    select i.* from input i join hold h on h.request_id = any (array[i.renews])
    where ${versionOf('h')} = i.version and not i.late and not i.met and not i.maybe_lost
    for no key update of h skip locked
  ),
  ${CLAIMED},
  renewed as (
    update hold h set renewed_by = i."requestId" from admissible i
    where h.request_id = any (array[i.renews]) and i."requestId" in (select request_id from claimed)
  ),
  ${STORED}
  ${STORED_OUTCOMES}`;
