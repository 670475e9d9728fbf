import { type AtProcessor, isAtProcessor, type Search } from '../at-processor.ts';
import { type Query, sql } from '../database.ts';
import { IS_NOT_RECONCILING } from '../reconciling.ts';
import type { HoldRow } from './hold-row.ts';

/** A hold that was renewed, and the hold that renews it. */
export interface Renewed extends Pick<HoldRow, 'requestId' | 'idHash' | 'status'> {
  readonly renewedBy: string;
  readonly renewalPhase: HoldRow['phase'];
  /** The processor has refused a release of it since. */
  readonly isRefused: boolean;
}

/** Finds renewed holds that can be released or have ended, the renewal being decided; none while reconciling. */
export function findRenewed(query: Query, { now, limit, but }: Search, at: AtProcessor): Promise<Renewed[]> {
  return query<Renewed>(FIND_RENEWED, [now, limit, at.only, at.butNot, but]);
}

const FIND_RENEWED = sql('find-renewed')`
    select h.request_id, h.id_hash, h.status, n.request_id as renewed_by, n.phase as renewal_phase,
      exists (select from submission r where r.hold_request_id = any (array[h.request_id]) and r.kind = 'RELEASE'
        and r.state = 'KO' and r.processor_code <> 'never_received' and r.created_at >= n.created_at) as is_refused
    from (select * from hold where releases_old and phase in ('AUTHORIZED', 'FAILED') and request_id <> all ($5::uuid[])
        and ${isAtProcessor('$3', '$4')}) n
      join hold h on h.request_id = n.renews
    where h.in_flight = 0 and not h.closing and not h.frozen and h.changing is distinct from 'INCREMENT'
      and (h.status not in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
        or (h.ended_as is null and least(h.expires_at, h.release_at) > $1))
      and ${IS_NOT_RECONCILING}
    order by n.request_id limit $2`;

/** Stores that nothing is left to do about the hold that another one renews. */
export async function markOldReleased(query: Query, renewedBy: string): Promise<void> {
  await query(sql('mark-old-released')`update hold set releases_old = false where request_id = $1`, [renewedBy]);
}
