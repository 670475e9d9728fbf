import { becauseAlso, type ContradictionInput, insertContradictions } from '../contradiction/contradictions.ts';
import { type Query, readRow, sql } from '../database.ts';
import type { HoldRow } from './hold-row.ts';
import { versionOf } from './hold-version.ts';
import type { ReadHold } from './read-holds.ts';

/**
 * Stores the address of the page that a hold's customer goes to, sealed, and when it closes, at which recovery looks at
 * the hold. Undefined = the hold has its result.
 */
export function storeCheckout(query: Query, requestId: string, sealedUrl: Buffer, expiresAt: Date) {
  return readRow<HoldRow>(query, STORE_CHECKOUT, [requestId, sealedUrl, expiresAt]);
}

const STORE_CHECKOUT = sql('store-checkout')`update hold set phase = 'AWAITING_CHECKOUT',
      checkout_url_ciphertext = $2, checkout_expires_at = $3, inquire_at = $3
    where request_id = $1 and phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN')
    returning *`;

/** The end of an authorization at the processor without a void or capture of ours. */
export interface EndAtProcessor {
  readonly requestId: string;
  /** The requestId of the hold, or of the renewal that made the authorization. */
  readonly authorization: string;
  /** The outcome booked for the remaining amount. */
  readonly as: 'RELEASED' | 'EXPIRED';
  /** The amount given back, minor units. */
  readonly amount: bigint;
  readonly reference: string;
}

/**
 * Stores that the authorization of an open hold ended at the processor, if the hold has not changed since it was read:
 * nothing more can be captured. When the amount given back differs from the remaining amount of our books, that is kept
 * as a contradiction, and the hold is frozen. Returns whether it was stored.
 */
export async function markEnded(
  query: Query,
  version: ReadHold['version'],
  { requestId, as, amount, reference }: Omit<EndAtProcessor, 'authorization'>,
  contradiction?: ContradictionInput,
): Promise<boolean> {
  const values = [requestId, as, amount, reference, version, contradiction && JSON.stringify(contradiction)];
  return (await query(MARK_ENDED, values)).length === 1;
}

const MARK_ENDED = sql('mark-ended')`with marked as (
    update hold h set ended_as = $2, ended_amount = $3, ended_reference = $4, frozen = frozen or $6::json is not null,
      frozen_because = ${becauseAlso(`($6::json->>'freezes')`)}
    where request_id = $1 and phase = 'AUTHORIZED' and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
      and ended_as is null and ${versionOf('h')} = $5
    returning $6::json as contradiction
  ),
  contradicted as (${insertContradictions('marked')})
  select from marked`;

/** The amount that increments without a result may add to a hold, minor units. */
export async function addingTo(query: Query, requestId: string): Promise<bigint> {
  const [row] = await query<{ adding: bigint }>(ADDING, [requestId]);
  return row?.adding ?? 0n;
}

const ADDING = sql('adding-to-hold')`select coalesce(sum(amount), 0)::bigint as adding from submission
    where hold_request_id = any (array[$1::uuid]) and kind = 'INCREMENT'
      and state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')`;
