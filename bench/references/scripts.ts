/**
 * The reference's transactions: what a service that commits each request for itself would write, row at a time, in tables that are
 * copies of ours with all their constraints and indexes. `:name` is a parameter.
 */

const HOLD = `insert into bench.hold (request_id, merchant_id, terminal_id, user_id, token_id, status, phase, amount, currency,
  captured, in_flight, remaining, released, reversed, closing, frozen, id_hash, id_ciphertext, allow_multiple_captures,
  notify_holds, hold_period_s, save_card, created_at, inquire_at, inquiry_count)
  values (:id::uuid, 'bench', 't1', 'u1', 'tok', 'IN_PROGRESS', 'AUTHORIZING', 10000, 'EUR', 0, 0, 10000, 0, 0, false, false,
  sha256(:id::text::bytea), sha256(:id::text::bytea), true, true, 604800, false, now(), now() + interval '10 s', 0)`;

const PLACED = `update bench.hold set phase = 'AUTHORIZED', placed_at = now(), expires_at = now() + interval '7 d', card_brand = 'visa',
  card_last4 = '4242', card_expiry_month = 12, card_expiry_year = 2030, processor_reference = 'ref', inquire_at = null
  where request_id = :id::uuid`;

const operation = (
  kind: string,
  word: string,
  id: string,
) => `insert into bench.operation (sequence, request_id, kind, status,
  status_info, merchant_id, terminal_id, user_id, amount, currency, processor_reference, final_state_date)
  values (nextval('bench.sequence'), :${id}::uuid, '${kind}', 'OK', '${word}', 'bench', 't1', 'u1', 10000, 'EUR', 'ref', now())`;

const delivery = (
  word: string,
  id: string,
) => `insert into bench.delivery (id, merchant_id, endpoint_kind, request_id, kind,
  status_info, body, state, attempt_count, due_at, created_at)
  values (:${id}::uuid, 'bench', 'webhook', :id::text, 'payment', '${word}', convert_to(repeat('x', 400), 'UTF8'), 'PENDING', 0,
  now(), now())`;

const RESERVED = `update bench.hold set remaining = remaining - 10000, in_flight = in_flight + 10000
  where request_id = :id::uuid and remaining >= 10000`;
const CAPTURE = `insert into bench.capture (request_id, hold_request_id, merchant_id, state, amount, currency, final_capture, reversed,
  created_at, inquire_at, inquiry_count)
  values (:capture::uuid, :id::uuid, 'bench', 'PENDING', 10000, 'EUR', false, false, now(), now() + interval '10 s', 0)`;
const CAPTURED = `update bench.capture set state = 'OK', capture_date = now(), bank_reference = 'bank', processor_reference = 'ref',
  inquire_at = null where request_id = :capture::uuid`;
const BOOKED = `update bench.hold set in_flight = in_flight - 10000, captured = captured + 10000, status = 'CAPTURED', closed_at = now()
  where request_id = :id::uuid`;
const NOTIFICATION = `insert into bench.notification (merchant_id, request_id, kind, status_info, status, amount, currency, body,
  received_at) values ('bench', :id::text, 'payment', 'captured', 'OK', '10000', 'EUR', convert_to(repeat('x', 150), 'UTF8'), now())`;

const hold = [[HOLD], [PLACED, operation('HOLD', 'authorized', 'id'), delivery('authorized', 'delivery')]];

/** Each script is a list of transactions, each a list of statements. */
export const SCRIPTS = {
  hold,
  pair: [
    ...hold,
    [RESERVED, CAPTURE],
    [CAPTURED, BOOKED, operation('CAPTURE', 'captured', 'capture'), delivery('captured', 'operation')],
  ],
  notification: [[NOTIFICATION]],
} as const satisfies Record<string, readonly (readonly string[])[]>;
export type ScriptName = keyof typeof SCRIPTS;

/** The tables of the reference. */
export const TABLES = `create schema if not exists bench;
  create table if not exists bench.hold (like public.hold including all);
  create table if not exists bench.capture (like public.capture including all);
  create table if not exists bench.operation (like public.operation including all);
  create table if not exists bench.delivery (like public.delivery including all);
  create table if not exists bench.notification (like public.notification including all);
  create sequence if not exists bench.sequence`;
