/** Rows of holds and submissions, for tests of the statements that read them. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase } from '../../../database.ts';

export type Row = Readonly<Record<string, unknown>>;

export const NOW = new Date('2027-01-01T00:00:00Z');
export const LATER = new Date('2027-01-02T00:00:00Z');

const PLACED: Row = {
  merchant_id: 'm',
  terminal_id: 't',
  user_id: 'u',
  status: 'IN_PROGRESS',
  phase: 'AUTHORIZED',
  amount: 100,
  amount_asked: 100,
  currency: 'EUR',
  captured: 0,
  in_flight: 0,
  remaining: 100,
  released: 0,
  reversed: 0,
  closing: false,
  frozen: false,
  id_key: 'k1',
  allow_multiple_captures: true,
  notify_holds: true,
  hold_period_s: 60,
  processor: 'p',
  processor_account: '',
  save_card: false,
  created_at: NOW,
  placed_at: NOW,
  expires_at: LATER,
  inquiry_count: 0,
};

const RELEASED: Row = {
  kind: 'RELEASE',
  state: 'OK',
  merchant_id: 'm',
  amount: 100,
  currency: 'EUR',
  processor: 'p',
  processor_account: '',
  created_at: NOW,
  final_at: LATER,
  inquiry_count: 0,
};

/** Opens a database with a pool as core has it. */
export async function openRows() {
  const database = await createMigratedDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const pool = await openPool({ databaseUrl: database.url, poolSize: 1 });
  const insert = async (table: string, row: Row) => {
    const places = Object.keys(row).map((_, index) => `$${index + 1}`);
    const columns = Object.keys(row).join(', ');
    await client.query(`insert into ${table} (${columns}) values (${places.join(', ')})`, Object.values(row));
  };
  return {
    query: pool.query,
    database: pool,
    clear: () => client.query('delete from hold; delete from submission; delete from installation'),
    /** Stores a placed hold with these changes. Returns its requestId. */
    async hold(changes: Row): Promise<string> {
      const request_id = randomUUID();
      await insert('hold', { request_id, id_hash: Buffer.from(request_id), ...PLACED, ...changes });
      return request_id;
    },
    /** Removes what was cleared, which a search would otherwise still pass. */
    vacuum: () => client.query('vacuum hold, submission'),
    /** Stores as many rows of the same kind. */
    async many(table: 'hold' | 'submission', count: number, changes: Row): Promise<void> {
      const row = { ...(table === 'hold' ? PLACED : RELEASED), ...changes };
      const columns = Object.keys(row);
      const places = columns.map((_, index) => `$${index + 1}`);
      const [id, ids] = ['request_id', 'gen_random_uuid()'];
      const names = table === 'hold' ? [id, 'id_hash', ...columns] : [id, ...columns];
      const values = table === 'hold' ? [ids, `decode(md5(random()::text), 'hex')`, ...places] : [ids, ...places];
      const text = `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from generate_series(1, ${count})`;
      await client.query(text, Object.values(row));
    },
    /** Stores a release that is done, with these changes. */
    submission: (changes: Row) => insert('submission', { request_id: randomUUID(), ...RELEASED, ...changes }),
    async close() {
      await client.end();
      await pool.close();
      await database.drop();
    },
  };
}
