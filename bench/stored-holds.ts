/** Captured holds of the past with their results, made by SQL: a month ago, a millisecond or more apart. */

/** SQL; $1 = merchant, $2 = how many, $3 = the number of the first. A hold and its capture have the same time. */
const MADE = `made as materialized (
    select n, (time || '70008000' || number)::uuid as id, (time || '70009000' || number)::uuid as capture_id
    from generate_series($3::int, $3::int + $2::int - 1) n, lateral (select
      lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 2592000000 + n), 12, '0') as time,
      lpad(to_hex(n), 12, '0') as number) parts),
  stored as (insert into hold (request_id, merchant_id, terminal_id, user_id, token_id, merchant_reference, status,
    phase, amount, amount_asked, currency, processor, processor_account, captured, in_flight, remaining, released,
    reversed, closing, frozen, id_hash, id_key, allow_multiple_captures, notify_holds, hold_period_s, save_card,
    card_last4, created_at, placed_at, expires_at, closed_at, inquiry_count)
  select id, $1, 't1', 'u' || n % 100000, 'tok', 'order-' || n, 'CAPTURED', 'AUTHORIZED', 1000 + n % 50000,
    1000 + n % 50000, 'EUR', 'p', '', 1000 + n % 50000, 0, 0, 0, 0, false, false, sha256(id::text::bytea),
    'k1', true, true, 604800, false, lpad((n % 10000)::text, 4, '0'), now() - interval '30 d',
    now() - interval '30 d', now() - interval '23 d', now() - interval '29 d', 0 from made)`;

const RESULTS = `insert into operation (sequence, request_id, kind, status, status_info, merchant_id, terminal_id,
    user_id, merchant_reference, amount, currency, processor_reference, final_state_date, hold_request_id)`;

/** SQL: a result with values of its own for id, kind, status_info and hold. */
const result = (id: string, kind: string, statusInfo: string, hold: string) =>
  `select nextval('operation_sequence_seq'), ${id}, '${kind}', 'OK', '${statusInfo}', $1, 't1', 'u' || n % 100000,
    'order-' || n, 1000 + n % 50000, 'EUR', 'ref', now() - interval '30 d', ${hold} from made`;

/** SQL with the parameters above. Each hold has a reference, one of 100 000 users and one of 10 000 cards. */
export const STORE_HOLDS = `with ${MADE} ${RESULTS} ${result('id', 'HOLD', 'authorized', 'null::uuid')}`;

/** SQL with the parameters above: the same with captures and claims, all that lasts longer than notifications. */
export const STORE_PAIRS = `with ${MADE},
  captured as (insert into submission (request_id, merchant_id, amount, currency, processor, processor_account,
    created_at, inquiry_count, processor_reference, kind, state, final_at, hold_request_id, final_capture,
    amount_reversed, amount_refunded, amount_refunding, status_after, amount_after, captured_after, remaining_after,
    released_after, reversed_after, refunded_after, frozen_after)
  select capture_id, $1, 1000 + n % 50000, 'EUR', 'p', '', now() - interval '30 d', 0, 'ref', 'CAPTURE', 'OK',
    now() - interval '30 d', id, true, 0, 0, 0, 'CAPTURED', 1000 + n % 50000, 1000 + n % 50000, 0, 0, 0, 0, false
  from made),
  claimed as (insert into claim (request_id, merchant_id, method, fingerprint, created_at)
  select id, $1, 'HOLD', sha256(id::text::bytea), now() - interval '30 d' from made
  union all select capture_id, $1, 'CAPTURE', sha256(capture_id::text::bytea), now() - interval '30 d' from made)
  ${RESULTS} ${result('id', 'HOLD', 'authorized', 'null::uuid')}
  union all ${result('capture_id', 'CAPTURE', 'captured', 'id')}`;
