import { type Query, sql } from '../database.ts';

/** Stores the address of a hold's checkout page, sealed, and when it closes, at which recovery looks at the hold. */
export async function storeCheckout(query: Query, requestId: string, sealedUrl: Buffer, expiresAt: Date) {
  await query(STORE_CHECKOUT, [requestId, sealedUrl, expiresAt]);
}

const STORE_CHECKOUT = sql('store-checkout')`update hold
    set checkout_url_ciphertext = $2, checkout_expires_at = $3, inquire_at = $3
    where request_id = $1 and phase = 'AWAITING_CHECKOUT'`;

/** Stores the metadata of a hold that was imported without it, as a repetition of its request says it. */
export async function restoreMetadata(query: Query, requestId: string, metadata: Record<string, string>) {
  await query(RESTORE_METADATA, [requestId, metadata]);
}

const RESTORE_METADATA = sql('restore-metadata')`update hold set metadata = $2
    where request_id = $1 and metadata is null
      and exists (select from imported i where i.request_id = $1 and i.what = 'OPERATION')`;

/** Freezes what remains: captures and releases are rejected until an operator unfreezes it. It still expires. */
export async function freezeHold(query: Query, requestId: string): Promise<void> {
  await query(sql('freeze-hold')`update hold set frozen = true where request_id = $1`, [requestId]);
}

/** Lets what remains of a hold be captured or released again. */
export async function unfreezeHold(query: Query, requestId: string): Promise<void> {
  await query(sql('unfreeze-hold')`update hold set frozen = false where request_id = $1`, [requestId]);
}

/** How an authorization ended at the processor, without a void or capture of ours. */
export interface EndedThere {
  readonly requestId: string;
  /** What the hold's rest is booked as. */
  readonly as: 'RELEASED' | 'EXPIRED';
  /** What was given back, minor units. */
  readonly amount: bigint;
  readonly reference: string;
}

/**
 * Stores that the authorization of an open hold ended at the processor: nothing more can be captured of it. What is in
 * flight may have been done before, or not, increments as well; when what was given back fits neither, the hold is
 * frozen. Returns whether it is frozen now; undefined = it was stored before, or the hold is not open.
 */
export async function markEnded(query: Query, ended: EndedThere): Promise<boolean | undefined> {
  const { requestId, as, amount, reference } = ended;
  const [row] = await query<{ differs: boolean }>(MARK_ENDED, [requestId, as, amount, reference]);
  return row?.differs;
}

const DIFFERS = `$3 not between remaining and remaining + in_flight + (
        select coalesce(sum(s.amount), 0) from submission s
        where s.hold_request_id = any (array[$1::uuid]) and s.kind = 'INCREMENT'
          and s.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW'))`;

const MARK_ENDED = sql('mark-ended')`update hold set ended_as = $2, ended_amount = $3, ended_reference = $4,
      frozen = frozen or ${DIFFERS}
    where request_id = $1 and phase = 'AUTHORIZED' and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
      and ended_as is null
    returning ${DIFFERS} as differs`;
