/**
 * The database rejects broken books whatever the code does: one violation for each CHECK and each unique constraint of
 * money.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createMigratedDatabase, type TestDatabase } from '../../../database.ts';

type Row = Record<string, unknown>;
const NOW = new Date('2027-01-01T00:00:00Z');
const ID = () => ({ request_id: randomUUID() });
const COUNTERS = { captured: 0, in_flight: 0, remaining: 100, released: 0, reversed: 0 };

/** A valid row of each table. */
const SOUND: Record<string, () => Row> = {
  hold: () => ({
    ...ID(),
    merchant_id: 'm',
    terminal_id: 't',
    user_id: 'u',
    status: 'IN_PROGRESS',
    phase: 'AUTHORIZED',
    amount: 100,
    currency: 'EUR',
    ...COUNTERS,
    closing: false,
    frozen: false,
    id_hash: Buffer.from(randomUUID()),
    id_key: 'k1',
    allow_multiple_captures: true,
    notify_holds: true,
    hold_period_s: 60,
    amount_asked: 100,
    processor: 'p',
    processor_account: '',
    save_card: false,
    created_at: NOW,
    placed_at: NOW,
    expires_at: NOW,
    inquiry_count: 0,
  }),
  submission: () => ({
    ...ID(),
    kind: 'CAPTURE',
    hold_request_id: randomUUID(),
    merchant_id: 'm',
    state: 'OK',
    amount: 1,
    currency: 'EUR',
    processor: 'p',
    processor_account: '',
    final_capture: false,
    amount_reversed: 0,
    amount_refunded: 0,
    amount_refunding: 0,
    final_at: NOW,
    created_at: NOW,
    inquiry_count: 0,
  }),
  claim: () => ({ ...ID(), merchant_id: 'm', created_at: NOW }),
  operation: () => ({
    ...ID(),
    kind: 'OCT',
    status: 'OK',
    status_info: 'paid',
    merchant_id: 'm',
    terminal_id: 't',
    user_id: 'u',
    amount: 1,
    currency: 'EUR',
    final_state_date: NOW,
  }),
  contradiction: () => ({
    id: randomUUID(),
    at: new Date(),
    request_id: randomUUID(),
    name: 'RESULT/DECLINED',
    kind: 'RESULT',
    source: 'EVENT',
    processor: 'default',
    told: 'DECLINED',
    kept: 'OK',
  }),
  merchant: () => ({
    id: randomUUID(),
    name: 'm',
    allow_multiple_captures: true,
    hold_period_s: 60,
    currencies: '{EUR}',
    terminals: '{T1}',
    notify_holds: true,
    require_signed_captures: false,
    created_at: NOW,
    change_number: 1,
  }),
};

const NO_CAPTURE = { final_capture: null, amount_reversed: null, amount_refunded: null, amount_refunding: null };
const OCT = { ...NO_CAPTURE, kind: 'OCT', hold_request_id: null, terminal_id: 't', user_id: 'u', token_id: 't' };

/** A violation of each constraint, and of no other. */
const BREAKS: Record<string, Row[]> = {
  claim_call: [{ method: 'CAPTURE' }, { fingerprint: Buffer.alloc(1) }],
  claim_key: [{ key: 'k' }],
  hold_amount: [
    { amount: 0, remaining: 0 },
    { amount_asked: 0 },
    { amount: 99, remaining: 99 },
    { phase: 'UNKNOWN', amount: 101, remaining: 0 },
    { amount: 1_000_000_000_000, remaining: 1_000_000_000_000 },
  ],
  hold_books_balance: [
    { remaining: 99 },
    { captured: 1 },
    { in_flight: 1 },
    { released: 1 },
    { phase: 'UNKNOWN' },
    { phase: 'AUTHORIZING', remaining: 0, in_flight: 1 },
  ],
  hold_counters_not_negative: [
    { captured: -1, remaining: 101 },
    { in_flight: -1, remaining: 101 },
    { remaining: -1, captured: 101 },
    { released: -1, remaining: 101 },
  ],
  hold_taken_back: [
    ...[{ reversed: 1 }, { reversed: -1 }, { refunded: 1 }, { refunded: -1 }, { refunding: 1 }, { refunding: -1 }],
    { captured: 2, remaining: 98, reversed: 3 },
    { captured: 2, remaining: 98, refunded: 2, refunding: 1 },
  ],
  hold_status: [{ status: 'GONE', remaining: 0, released: 100 }],
  hold_phase: [{ phase: 'LOST', remaining: 0 }],
  hold_release_reason: [{ release_reason: 'BORED' }],
  hold_ended_as: [{ ended_as: 'VOIDED', ended_amount: 1 }],
  hold_ended_amount: [{ ended_as: 'EXPIRED' }, { ended_amount: 1 }, { ended_as: 'EXPIRED', ended_amount: -1 }],
  hold_frozen_because: [{ frozen_because: 'BORED' }],
  hold_failed: [
    { status: 'FAILED', remaining: 0, released: 100 },
    { phase: 'FAILED', remaining: 0 },
  ],
  hold_changing: [{ changing: 'RELEASE' }, { phase: 'UNKNOWN', remaining: 0, changing: 'INCREMENT' }],
  hold_placed_has_end: [{ expires_at: null }, { placed_at: null }],
  hold_closed_keeps_nothing: [{ status: 'CAPTURED' }, { status: 'RELEASED' }, { status: 'EXPIRED' }],
  submission_kind: [{ ...NO_CAPTURE, kind: 'GIFT' }],
  submission_state: [{ state: 'MAYBE', final_at: null }],
  submission_amount: [{ amount: 0 }, { amount: 1_000_000_000_000 }, { ...NO_CAPTURE, kind: 'RELEASE', amount: -1 }],
  submission_final_has_date: [{ final_at: null }, { state: 'UNKNOWN' }],
  submission_of_hold: [{ hold_request_id: null }, { ...OCT, hold_request_id: randomUUID() }],
  submission_of_capture: [{ capture_request_id: randomUUID() }, { ...NO_CAPTURE, kind: 'REFUND' }],
  submission_capture: [
    { final_capture: null },
    { amount_reversed: null },
    { amount_refunded: null },
    { amount_refunding: null },
    { kind: 'RELEASE' },
  ],
  submission_taken_back: [
    ...[{ amount_reversed: -1 }, { amount_reversed: 2 }, { amount_refunded: -1 }, { amount_refunding: -1 }],
    { amount_refunded: 1, amount_refunding: 1 },
  ],
  submission_taken_back_was_ok: [
    { state: 'KO', amount_reversed: 1 },
    { state: 'KO', amount_refunded: 1 },
    { state: 'KO', amount_refunding: 1 },
  ],
  submission_returned: [{ amount_returned: 1 }, { ...OCT, amount_returned: -1 }, { ...OCT, amount_returned: 2 }],
  submission_first_state: [
    ...[{ first_state: 'MAYBE' }, { ...OCT, first_state: 'KO', state: 'UNKNOWN', final_at: null }],
    { ...NO_CAPTURE, kind: 'RELEASE', first_state: 'OK' },
  ],
  submission_amount_released: [
    { ...OCT, amount_released: 1 },
    { ...NO_CAPTURE, kind: 'RELEASE', amount_released: -1 },
  ],
  submission_reported: [{ reported: true }],
  submission_oct: [{ ...OCT, token_id: null }],
  submission_after: [{ ...OCT, status_after: 'CAPTURED' }],
  operation_status: [{ status: 'MAYBE' }],
  operation_kind: [{ kind: 'GIFT' }],
  contradiction_kind: [{ kind: 'WHIM' }],
  contradiction_source: [{ source: 'RUMOUR' }],
  contradiction_resolved: [
    { resolved_at: new Date() },
    { resolved_at: new Date(), resolved_by: 'operator' },
    { resolution: 'seen' },
  ],
  merchant_notify_expiring_hours: [{ notify_expiring_hours: 0 }, { notify_expiring_hours: 721 }],
  merchant_hold_period: [{ hold_period_s: 0 }, { hold_period_s: 2_592_001 }],
  merchant_signed_captures_need_key: [{ require_signed_captures: true }],
};

describe('the constraints of the books', () => {
  let test: TestDatabase;
  let client: Client;

  before(async () => {
    test = await createMigratedDatabase();
    client = new Client({ connectionString: test.url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await test.drop();
  });

  const insert = (table: string, row: Row) => {
    const columns = Object.keys(row);
    const places = columns.map((_, index) => `$${index + 1}`);
    const text = `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')})`;
    return client.query(text, Object.values(row));
  };
  const brokenBy = (call: Promise<unknown>) =>
    call.then(
      () => 'nothing',
      (error: { constraint?: string }) => error.constraint ?? String(error),
    );

  it('accept valid rows', async () => {
    for (const [table, row] of Object.entries(SOUND)) await insert(table, row());
  });

  for (const [constraint, breaks] of Object.entries(BREAKS)) {
    it(`reject a violation of ${constraint}`, async () => {
      const table = constraint.split('_')[0] ?? '';
      for (const change of breaks) {
        const broken = await brokenBy(insert(table, { ...SOUND[table]?.(), ...change }));
        assert.equal(broken, constraint, JSON.stringify(change));
      }
    });
  }

  it('are all tested', async () => {
    const { rows } = await client.query<{ name: string }>(
      `select coalesce(rule[1], conname) as name from pg_constraint
        left join pg_proc on proname = conname and conname like '%\\_rules'
        left join lateral regexp_matches(prosrc, 'then ''(\\w+)''', 'g') rule on true
        where contype = 'c' and conrelid::regclass::text = any($1)`,
      [Object.keys(SOUND)],
    );
    assert.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(BREAKS).sort());
  });

  it('allow one result for an operation, one hold for a preauthorizationId, one operation for a key', async () => {
    const [operation, hold] = [SOUND.operation?.() ?? {}, SOUND.hold?.() ?? {}];
    await insert('operation', operation);
    // Partitions have their own constraints; a random UUID belongs to the default one.
    assert.equal(await brokenBy(insert('operation', operation)), 'operation_default_pkey');
    await insert('hold', hold);
    assert.equal(await brokenBy(insert('hold', { ...hold, ...ID() })), 'hold_id_hash_unique');
    assert.equal(await brokenBy(insert('hold', hold)), 'hold_pkey');
    const key = { merchant_id: 'm', key: 'k', method: 'CAPTURE', fingerprint: Buffer.alloc(1), created_at: NOW };
    const claim = { ...key, ...ID() };
    await insert('claim', claim);
    assert.equal(await brokenBy(insert('claim', { ...key, ...ID() })), 'claim_by_key');
    assert.equal(await brokenBy(insert('claim', { ...claim, key: 'l' })), 'claim_pkey');
  });
});
