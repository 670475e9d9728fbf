/** Captured holds of the past with their results, made by SQL: a month of them, a millisecond or more apart. */

/**
 * SQL; $1 = merchant, $2 = how many, $3 = the number of the first. Each has a reference, one of 100 000 users and one
 * of 10 000 cards.
 */
export const STORE_HOLDS = `with made as materialized (
    select n, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - 2592000000 + n), 12,
      '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid as id
    from generate_series($3::int, $3::int + $2::int - 1) n),
  stored as (insert into hold (request_id, merchant_id, terminal_id, user_id, token_id, merchant_reference, status,
    phase, amount, amount_asked, currency, processor, processor_account, captured, in_flight, remaining, released,
    reversed, closing, frozen, id_hash, id_ciphertext, allow_multiple_captures, notify_holds, hold_period_s, save_card,
    card_last4, created_at, placed_at, expires_at, closed_at, inquiry_count)
  select id, $1, 't1', 'u' || n % 100000, 'tok', 'order-' || n, 'CAPTURED', 'AUTHORIZED', 1000 + n % 50000,
    1000 + n % 50000, 'EUR', 'p', '', 1000 + n % 50000, 0, 0, 0, 0, false, false, sha256(id::text::bytea),
    sha256(id::text::bytea), true, true, 604800, false, lpad((n % 10000)::text, 4, '0'), now() - interval '30 d',
    now() - interval '30 d', now() - interval '23 d', now() - interval '29 d', 0 from made)
  insert into operation (sequence, request_id, kind, status, status_info, merchant_id, terminal_id, user_id,
    merchant_reference, amount, currency, processor_reference, final_state_date)
  select nextval('operation_sequence_seq'), id, 'HOLD', 'OK', 'authorized', $1, 't1', 'u' || n % 100000, 'order-' || n,
    1000 + n % 50000, 'EUR',
    'ref', now() - interval '30 d' from made`;
