import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Database } from '../../../../../services/core/storage/database.ts';
import { openRelayedLog } from '../../../../../services/core/storage/notification/relayed-log.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../../database.ts';

/** As 1.0.0 stores one, too. */
const INSERT = `insert into notification (merchant_id, request_id, kind, status_info, status, amount, currency, body,
  received_at) select $1, $2 || case n when 1 then '' else n::text end, 'payment', 'captured', 'OK', '10', 'EUR', '{}',
  now() from generate_series(1, $3) n`;

describe('openRelayedLog()', () => {
  let test: TestDatabase;
  let database: Database;
  const clients: Client[] = [];

  beforeEach(async () => {
    test = await createMigratedDatabase();
    database = await openPool({ databaseUrl: test.url, poolSize: 4 });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end().catch(() => undefined);
    await database.close();
    await test.drop();
  });

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: test.url });
    client.on('error', () => undefined);
    clients.push(client);
    await client.connect();
    return client;
  }
  const store = (client: Client, requestId: string, merchantId = 'm', count = 1) =>
    client.query(INSERT, [merchantId, requestId, count]);
  const namesAfter = async (log: ReturnType<typeof openRelayedLog>, after = 0n) =>
    (await log.read(database.query, after, 1_000)).map(({ requestId }) => requestId);

  it('reads nothing behind a number whose transaction has not ended', async () => {
    const log = openRelayedLog();
    const [slow, fast] = [await connect(), await connect()];
    await store(fast, 'before');
    assert.deepEqual(await namesAfter(log), ['before']);
    await slow.query('begin');
    await store(slow, 'slow');
    await store(fast, 'fast');
    assert.deepEqual(await namesAfter(log), ['before']);
    assert.equal((await log.last(database.query)).sequence, 1n);
    await slow.query('commit');
    assert.deepEqual(await namesAfter(log), ['before', 'slow', 'fast']);
  });

  it('shows the row at which another core was, also while it cannot know itself that it is settled', async () => {
    const [here, there] = [openRelayedLog(), openRelayedLog()];
    const [slow, fast] = [await connect(), await connect()];
    await store(fast, 'a');
    assert.deepEqual(await namesAfter(here), ['a']);
    await store(fast, 'b');
    assert.equal((await there.last(database.query)).sequence, 2n);
    await slow.query('begin');
    await store(slow, 'slow');
    await store(fast, 'c');
    assert.deepEqual(await namesAfter(here, 1n), ['b']);
    const ofMerchant = await here.readOf(database.query, 'm', 2n, 10);
    assert.deepEqual(
      ofMerchant.map(({ requestId }) => requestId),
      ['b'],
    );
    await slow.query('rollback');
    assert.deepEqual(await namesAfter(here, 1n), ['b', 'c']);
  });

  it('goes on when that transaction is rolled back, or its process is killed', async () => {
    const log = openRelayedLog();
    const [slow, killed, fast] = [await connect(), await connect(), await connect()];
    assert.deepEqual(await namesAfter(log), []);
    for (const each of [slow, killed]) {
      await each.query('begin');
      await store(each, 'lost');
      if (each === slow) await slow.query('savepoint s');
      await store(fast, each === slow ? 'one' : 'two');
      assert.deepEqual(await namesAfter(log), each === slow ? [] : ['one']);
      if (each === slow) await slow.query('rollback');
      else {
        const { rows } = await killed.query<{ pid: number }>('select pg_backend_pid() as pid');
        await fast.query('select pg_terminate_backend($1, 10000)', [rows[0]?.pid]);
      }
    }
    assert.deepEqual(await namesAfter(log), ['one', 'two']);
  });

  it('waits for no transaction that writes other tables, or only reads', async () => {
    const log = openRelayedLog();
    const [other, fast] = [await connect(), await connect()];
    await other.query('begin');
    await other.query('select pg_current_xact_id(), count(*) from notification');
    await other.query("insert into signature_nonce (merchant_id, nonce, expires_at) values ('m', 'n', now())");
    await store(fast, 'a');
    assert.deepEqual(await namesAfter(log), ['a']);
  });

  it('does not begin before a number is settled', async () => {
    const [slow, fast] = [await connect(), await connect()];
    await slow.query('begin');
    await store(slow, 'slow');
    await store(fast, 'fast');
    const log = openRelayedLog();
    let isRead = false;
    const last = log.last(database.query).then((position) => {
      isRead = true;
      return position;
    });
    await delay(100);
    assert.equal(isRead, false);
    await slow.query('commit');
    assert.equal((await last).sequence, 2n);
  });

  it('misses none and keeps the order while many write, and writers are killed', async () => {
    const readers = [openRelayedLog(), openRelayedLog()].map((log) => ({ log, seen: [] as bigint[], after: 0n }));
    let isWriting = true;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      let client = await connect();
      for (let round = 0; round < 60; round++) {
        try {
          await client.query('begin');
          await store(client, `${writer}-${round}`, `m${writer % 3}`, 1 + (round % 5));
          await delay((writer * round) % 7);
          if (round % 20 === 19) await client.query('select pg_terminate_backend(pg_backend_pid())');
          await client.query(round % 9 === 8 ? 'rollback' : 'commit');
        } catch {
          client = await connect();
        }
      }
    });
    const read = async (reader: (typeof readers)[number]) => {
      for (const { sequence } of await reader.log.read(database.query, reader.after, 7)) {
        reader.seen.push(sequence);
        reader.after = sequence;
      }
    };
    const reading = readers.map(async (reader) => {
      while (isWriting) await read(reader);
    });
    await Promise.all(writers);
    isWriting = false;
    await Promise.all(reading);
    const { rows } = await (await connect()).query<{ sequence: string }>(
      'select sequence from notification order by sequence',
    );
    const all = rows.map(({ sequence }) => BigInt(sequence));
    assert(all.length > 500, `${all.length} stored`);
    for (const reader of readers) {
      assert(reader.seen.length > all.length / 4, `${reader.seen.length} read while they were stored`);
      while (reader.seen.length < all.length) await read(reader);
      assert.deepEqual(reader.seen, all);
    }
  });

  it('reads what a merchant has received by its index, up to where the log is settled', async () => {
    const log = openRelayedLog();
    const [slow, fast] = [await connect(), await connect()];
    await store(fast, 'a', 'rare');
    await store(fast, 'b', 'large', 20_000);
    await store(fast, 'c', 'rare');
    await fast.query('analyze notification');
    assert.equal((await log.last(database.query)).sequence, 20_002n);
    await slow.query('begin');
    await store(slow, 'd', 'rare');
    await store(fast, 'e', 'rare');
    const counted = await openPool({ databaseUrl: test.url, poolSize: 1 });
    try {
      await counted.query({ name: '', text: 'begin' }, []);
      // PostgreSQL keeps one plan for all merchants after some calls.
      for (let call = 0; call < 10; call++) {
        const rows = await log.readOf(counted.query, 'rare', 2n, 100);
        assert.deepEqual(
          rows.map(({ sequence }) => sequence),
          [2n, 20_002n],
        );
      }
      const [read] = await counted.query<{ count: number }>(
        {
          name: '',
          text: `select (idx_tup_fetch + seq_tup_read)::int as count from pg_stat_xact_user_tables where relname = 'notification'`,
        },
        [],
      );
      assert((read?.count ?? 0) > 0 && (read?.count ?? 0) < 200, `${read?.count} rows read`);
    } finally {
      await counted.close();
    }
  });

  it('leaves out what was stored before there was an order', async () => {
    const log = openRelayedLog();
    const client = await connect();
    await store(client, 'old');
    await client.query('update notification set sequence = null');
    await store(client, 'new');
    assert.deepEqual(await namesAfter(log), ['new']);
  });
});
