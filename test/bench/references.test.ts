import assert from 'node:assert/strict';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { cpuEach, cpuOf, parentOf } from '../../bench/cpu.ts';
import { TABLES, transactionsOf } from '../../bench/references/scripts.ts';
import { createDatabase, type TestDatabase } from '../database.ts';

describe('the references of the bench', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  it('place a hold and capture it, row at a time', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    const client = await pool.connect();
    const ids = { id: uuidv7(), operation: uuidv7(), delivery: uuidv7(), capture: uuidv7() };
    await client.query(TABLES);
    for (const transaction of transactionsOf('pair')) await transaction(client, ids);
    const { rows } =
      await client.query(`select captured, remaining, closed_at is not null as closed, c.final_at is not null as final,
      (select count(*) from bench.operation) as operations, (select count(*) from bench.delivery) as deliveries
      from bench.hold h join bench.capture c on c.hold_id = h.id`);
    client.release();
    await pool.end();
    const counts = { captured: '10000', remaining: '0', operations: '2', deliveries: '2' };
    assert.deepEqual(rows, [{ ...counts, closed: true, final: true }]);
  });
});

describe('cpuOf()', () => {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('counts what a process has used, and nothing of one that is gone', async () => {
    const before = await cpuOf({ own: process.pid, gone: 2 ** 22 + 1 });
    const endMs = performance.now() + 200;
    while (performance.now() < endMs);
    const after = await cpuOf({ own: process.pid });
    const { own = 0 } = cpuEach(before, after, 10);
    assert.ok(own > 0, `${own} ms for each of ten acts`);
    assert.deepEqual(Object.keys(before), ['own']);
  });

  it('knows the parent of a process', async () => {
    assert.equal(await parentOf(process.pid), process.ppid);
  });
});
