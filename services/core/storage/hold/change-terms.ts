import { committing, deadlineOfCall } from '../bound-change.ts';
import { type Query, sql } from '../database.ts';
import type { AskedTerms, HoldRow } from './hold-row.ts';
import { versionOf } from './hold-version.ts';
import { noticeAt } from './notice-at.ts';
import type { ReadHold } from './read-holds.ts';
import { renewAt } from './renew-at.ts';

/** The fields of a hold that an update can change. */
export type Terms = Pick<
  HoldRow,
  'captureAt' | 'releaseAt' | 'keepUntil' | 'description' | 'merchantReference' | 'metadata'
>;

/**
 * Changes the terms of a hold, if it is still as it was read. What was asked for first is kept, and what has been
 * answered since: a repeated request gets its first answer. Returns whether it was changed; it is not after the deadline
 * of the call.
 */
export async function changeTerms(query: Query, hold: ReadHold, terms: Terms, now: Date): Promise<boolean> {
  const { captureAt, releaseAt, keepUntil, description, merchantReference, metadata } = terms;
  const before = askedOf(hold);
  const values = [
    hold.requestId,
    hold.version,
    captureAt,
    releaseAt,
    description,
    merchantReference,
    metadata,
    JSON.stringify(hold.asked ?? before),
    JSON.stringify(before),
    deadlineOfCall() ?? null,
    keepUntil,
    now,
  ];
  const changed = await committing((begins) => {
    begins();
    return query(CHANGE_TERMS, values);
  });
  return changed.length === 1;
}

function askedOf({ captureAt, releaseAt, keepUntil, description, merchantReference, metadata }: Terms): AskedTerms {
  return {
    ...(captureAt && { captureAt: captureAt.toISOString() }),
    ...(releaseAt && { releaseAt: releaseAt.toISOString() }),
    ...(keepUntil && { keepUntil: keepUntil.toISOString() }),
    ...(description != null && { description }),
    ...(merchantReference != null && { merchantReference }),
    ...(metadata && { metadata }),
  };
}

const NOTICE_AT = noticeAt({
  guaranteedUntil: 'guaranteed_until',
  expiresAt: 'expires_at',
  releaseAt: '$4',
  hours: 'notify_expiring_hours',
});

const RENEW_AT = renewAt({
  keepUntil: '$11::timestamptz',
  captureAt: '$3::timestamptz',
  releaseAt: '$4::timestamptz',
  guaranteedUntil: 'guaranteed_until',
  expiresAt: 'expires_at',
  now: '$12::timestamptz',
});

const CHANGE_TERMS = sql('change-terms')`with changed as (
    update hold
    set capture_at = $3, release_at = $4, description = $5, merchant_reference = $6, metadata = $7::jsonb,
      asked = $8::jsonb, keep_until = $11,
      renew_at = case when ($3, $4, $11) is distinct from (capture_at, release_at, keep_until) then ${RENEW_AT}
        else renew_at end,
      notify_expiring_at = ${NOTICE_AT}
    where request_id = $1 and ${versionOf('hold')} = $2
      and coalesce($10::timestamptz > clock_timestamp(), true)
    returning request_id
  ),
  kept as (
    update submission s set terms_after = $9::jsonb from changed c
    where s.hold_request_id = any (array[c.request_id]) and s.kind in ('INCREMENT', 'EXTENSION', 'RELEASE', 'PARTIAL_RELEASE')
      and s.state = 'OK' and s.terms_after is null
  )
  select request_id from changed`;
