import { byTurns } from '../by-turns.ts';
import { type Query, sql } from '../database.ts';
import type { HoldRow } from './hold-row.ts';
import { versionOf } from './hold-version.ts';

/** A hold that was renewed, and the hold that renews it. */
export interface Renewed extends Pick<HoldRow, 'requestId' | 'authorizationId' | 'idHash' | 'status'> {
  readonly renewedBy: string;
  readonly renewalPhase: HoldRow['phase'];
  /** The processor has refused a release of it since. */
  readonly isRefused: boolean;
}

/** Finds renewed holds that can be released or have ended, the renewal being decided. */
export const findRenewed = byTurns<Renewed>({
  name: 'find-renewed',
  table: 'hold',
  index: 's.releases_old',
  due: 'created_at',
  select: `h.request_id, h.authorization_id, h.id_hash, h.status, s.request_id as renewed_by, s.phase as renewal_phase,
      exists (select from submission r where r.hold_request_id = any (array[h.request_id]) and r.kind = 'RELEASE'
        and r.state = 'KO' and r.processor_code <> 'never_received' and r.created_at >= s.created_at) as is_refused`,
  join: 'join hold h on h.request_id = any (array[s.renews])',
  where: `s.phase in ('AUTHORIZED', 'FAILED')
      and h.in_flight = 0 and not h.closing and not h.frozen and h.changing is distinct from 'INCREMENT'
      and (h.status not in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
        or (h.ended_as is null and least(h.expires_at, h.release_at) > $1))`,
});

/** A hold that is to be renewed, and the renewal that it had before, if any. */
export interface RenewedBefore {
  /** The old hold's. */
  readonly version: string;
  /** True when the requestId of the new renewal is taken. */
  readonly isKnown: boolean;
  readonly renewedBy: string | null;
  readonly phase: HoldRow['phase'] | null;
  readonly status: HoldRow['status'] | null;
  readonly endsAt: Date | null;
}

/** Reads what decides whether holds can be renewed (again), in the order of the renewals. */
export async function readRenewed(
  query: Query,
  renewals: readonly { readonly requestId: string; readonly renews: string }[],
): Promise<(RenewedBefore | undefined)[]> {
  const named = renewals.map(({ requestId, renews }, place) => ({ place, requestId, renews }));
  const rows = await query<RenewedBefore & { place: number }>(READ_RENEWED, [JSON.stringify(named)]);
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return renewals.map((_, place) => byPlace.get(place));
}

const READ_RENEWED = sql('read-renewed')`select i.place, ${versionOf('h')} as version, h.renewed_by, n.phase, n.status,
      least(n.expires_at, n.release_at) as ends_at,
      exists (select from claim c where c.request_id = any (array[i."requestId"])) as is_known
    from json_to_recordset($1::json) as i(place int, "requestId" uuid, renews uuid)
      join hold h on h.request_id = any (array[i.renews])
      left join hold n on n.request_id = any (array[h.renewed_by])`;

/** Stores that nothing is left to do about the hold that another one renews. */
export async function markOldReleased(query: Query, renewedBy: string): Promise<void> {
  await query(sql('mark-old-released')`update hold set releases_old = false where request_id = $1`, [renewedBy]);
}
