/**
 * The reference's tables and transactions: what a service that commits each request for itself would write, row at a
 * time, with the indexes and checks that it needs. `:name` is a parameter.
 */
import type pg from 'pg';

/** The tables, in a schema of their own. */
export const TABLES = `create schema if not exists bench;
  create table if not exists bench.hold (id uuid primary key, merchant_id text not null, terminal_id text not null,
    user_id text not null, token_id text not null, phase text not null, amount bigint not null, currency text not null,
    captured bigint not null, in_flight bigint not null, remaining bigint not null,
    allow_multiple_captures boolean not null, card_brand text, card_last4 text, processor_reference text,
    created_at timestamptz not null, placed_at timestamptz, expires_at timestamptz, closed_at timestamptz,
      inquire_at timestamptz, check (amount = captured + in_flight + remaining),
      check (captured >= 0 and in_flight >= 0 and remaining >= 0));
  create index if not exists hold_of_merchant on bench.hold (merchant_id, id);
  create index if not exists hold_ends on bench.hold (expires_at) where closed_at is null;
  create index if not exists hold_inquiries on bench.hold (inquire_at) where inquire_at is not null;
  create table if not exists bench.capture (id uuid primary key, hold_id uuid not null, merchant_id text not null,
    state text not null, amount bigint not null, currency text not null, created_at timestamptz not null,
    final_at timestamptz, bank_reference text, processor_reference text, inquire_at timestamptz);
  create index if not exists capture_of_hold on bench.capture (hold_id);
  create index if not exists capture_inquiries on bench.capture (inquire_at) where inquire_at is not null;
  create sequence if not exists bench.sequence;
  create table if not exists bench.operation (sequence bigint primary key default nextval('bench.sequence'),
    id uuid not null unique, kind text not null, status text not null, status_info text not null,
    merchant_id text not null, amount bigint not null, currency text not null, processor_reference text,
    final_at timestamptz not null);
  create index if not exists operation_of_merchant on bench.operation (merchant_id, sequence);
  create table if not exists bench.delivery (id uuid primary key, merchant_id text not null, operation_id uuid not null,
    status_info text not null, body bytea not null, state text not null, due_at timestamptz,
    created_at timestamptz not null);
  create index if not exists delivery_due on bench.delivery (due_at) where due_at is not null;
  create table if not exists bench.notification (merchant_id text not null, request_id text not null,
    kind text not null, status_info text not null, status text not null, amount text not null, currency text not null,
    body bytea not null,
    received_at timestamptz not null, primary key (merchant_id, request_id))`;

const HOLD = `insert into bench.hold (id, merchant_id, terminal_id, user_id, token_id, phase, amount, currency,
  captured, in_flight, remaining, allow_multiple_captures, created_at, inquire_at)
  values (:id::uuid, 'bench', 't1', 'u1', 'tok_sandbox_ok', 'AUTHORIZING', 10000, 'EUR', 0, 0, 10000, true, now(),
    now() + interval '10 s')`;

const PLACED = `update bench.hold set phase = 'AUTHORIZED', placed_at = now(), expires_at = now() + interval '7 d',
  card_brand = 'visa',
  card_last4 = '4242', processor_reference = 'ref', inquire_at = null where id = :id::uuid`;

const operation = (
  kind: string,
  word: string,
  id: string,
) => `insert into bench.operation (id, kind, status, status_info, merchant_id,
  amount, currency, processor_reference, final_at)
  values (:${id}::uuid, '${kind}', 'OK', '${word}', 'bench', 10000, 'EUR', 'ref', now())`;

const delivery = (
  word: string,
  id: string,
) => `insert into bench.delivery (id, merchant_id, operation_id, status_info, body, state, due_at,
  created_at) values (:${id}::uuid, 'bench', :id::uuid, '${word}', convert_to(repeat('x', 400), 'UTF8'), 'PENDING',
    now(), now())`;

const RESERVED = `update bench.hold set remaining = remaining - 10000, in_flight = in_flight + 10000
  where id = :id::uuid and remaining >= 10000`;
const CAPTURE = `insert into bench.capture (id, hold_id, merchant_id, state, amount, currency, created_at, inquire_at)
  values (:capture::uuid, :id::uuid, 'bench', 'PENDING', 10000, 'EUR', now(), now() + interval '10 s')`;
const CAPTURED = `update bench.capture set state = 'OK', final_at = now(), bank_reference = 'bank',
  processor_reference = 'ref',
  inquire_at = null where id = :capture::uuid`;
const BOOKED = `update bench.hold set in_flight = in_flight - 10000, captured = captured + 10000,
  closed_at = now() where id = :id::uuid`;

const hold = [[HOLD], [PLACED, operation('HOLD', 'authorized', 'id'), delivery('authorized', 'delivery')]];

const capture = [
  [RESERVED, CAPTURE],
  [CAPTURED, BOOKED, operation('CAPTURE', 'captured', 'capture'), delivery('captured', 'operation')],
];

/** Each script is a list of transactions, each a list of statements. */
export const SCRIPTS = { hold, capture, pair: [...hold, ...capture] } as const satisfies Record<
  string,
  readonly (readonly string[])[]
>;
export type ScriptName = keyof typeof SCRIPTS;

type Values = Readonly<Record<string, string>>;

/** Runs one transaction after the other, statement by statement, prepared. */
export type Transact = (client: pg.PoolClient, values: Values) => Promise<void>;

/** The transactions of a script, for raw pg. */
export function transactionsOf(script: ScriptName): Transact[] {
  return SCRIPTS[script].map((statements, number) => {
    const ready = statements.map((statement, index) => prepared(`${script}-${number}-${index}`, statement));
    return async (client, values) => {
      if (ready.length > 1) await client.query('begin');
      for (const { name, text, parameters } of ready) {
        await client.query({ name, text, values: parameters.map((parameter) => values[parameter]) });
      }
      if (ready.length > 1) await client.query('commit');
    };
  });
}

/** A statement in pg's own spelling: `$1` for its first `:name`, and so on. */
function prepared(name: string, statement: string): { name: string; text: string; parameters: string[] } {
  const parameters: string[] = [];
  const text = statement.replace(/(?<!:):(\w+)/g, (_, parameter: string) => `$${parameters.push(parameter)}`);
  return { name, text, parameters };
}
