/** The work of comparing books grows with them, not with their square: an installation has millions of entries. */
import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { STORE_HOLDS } from '../../../../bench/stored-holds.ts';
import { comparing, copyEntries } from '../../../../services/core/reconciliation/copy-entries.ts';
import { createMigratedDatabase } from '../../../database.ts';
import { forSuite } from '../../../suite.ts';

const CAPTURES = `insert into submission (request_id, merchant_id, amount, currency, processor, processor_account,
  created_at,
    inquiry_count, kind, state, final_at, hold_request_id, final_capture,
    amount_reversed, amount_refunded, amount_refunding)
  select gen_random_uuid(), merchant_id, amount, currency, processor, '', created_at, 0, 'CAPTURE', 'OK', created_at,
  request_id, false, 0, 0, 0
  from hold`;

/** Of each hold its authorization, a capture that is known here, and one that is not and was refunded. */
const ENTRIES = ['AUTHORIZATION', 'CAPTURE', 'REFUNDED'].map(
  (what) => `insert into processor_entry (request_id, processor, kind, answer, authorization_request_id, merchant_id,
      amount, currency, captured, voided, reversed, incremented, refunded, acted_at, contradicts)
    select ${{ AUTHORIZATION: 'h.request_id', CAPTURE: 'k.request_id', REFUNDED: 'gen_random_uuid()' }[what]}, 'p',
      '${what === 'AUTHORIZATION' ? what : 'CAPTURE'}', 'APPROVED',
      ${what === 'AUTHORIZATION' ? 'null' : 'h.request_id'},
      h.merchant_id, h.amount, 'EUR', ${what === 'AUTHORIZATION' ? 'h.amount' : '0'}, 0, 0, 0,
      ${what === 'REFUNDED' ? 'h.amount' : '0'}, h.created_at, false
    from hold h join submission k on k.hold_request_id = h.request_id`,
);

/** Those of compared-books.sql that join both books. */
const VIEWS = [
  'invalid_entries',
  'results_differ',
  'unknown_here',
  'sums_of_holds',
  'sums_of_captures',
  'unknown_entry',
  'doubt',
];

describe('the comparison of books', () => {
  const database = forSuite(createMigratedDatabase);

  /** What PostgreSQL expects each query to cost among so many holds. */
  const costs = (holds: number) =>
    comparing(database.url, async (client) => {
      await client.query('truncate hold, submission, operation');
      await client.query(STORE_HOLDS, ['acme', holds, 0]);
      await client.query(`${CAPTURES}; ${ENTRIES.join(';')}; analyze`);
      await copyEntries({ client, processors: new Map(), unreadable: 'THROW' }, {});
      const found: number[] = [];
      for (const view of VIEWS) {
        const { rows } = await client.query(`explain (format json) select * from ${view}`);
        found.push(rows[0]['QUERY PLAN'][0].Plan['Total Cost']);
      }
      return found;
    });

  it('is expected to cost in proportion to the books', async () => {
    const [few, many] = [await costs(4_000), await costs(12_000)];
    const growth = many.map((cost, index) => (cost + 1) / ((few[index] ?? 0) + 1));
    assert(
      growth.every((times) => times < 6),
      `growth of each query for three times the books: ${growth.map((times) => times.toFixed(1))}`,
    );
  });

  it('doubts what lacks its authorization, unless that entry is invalid at the same processor', async () => {
    const id = uuidv7();
    const doubted = await comparing(database.url, async (client) => {
      await client.query(`insert into processor_entry (request_id, processor, kind, answer, authorization_request_id,
          merchant_id, amount, currency, contradicts)
        values (gen_random_uuid(), 'p', 'CAPTURE', 'APPROVED', '${id}', '', 500, 'EUR', false)`);
      const found: unknown[] = [];
      for (const processor of ['another', 'p']) {
        await client.query('insert into invalid_entry values ($1, $2, $3)', [id, processor, 'broken']);
        found.push((await client.query('select * from doubt')).rows.map((row) => row.request_id));
      }
      return found;
    });
    assert.deepEqual(doubted, [[id], []]);
  });
});
