import assert from 'node:assert/strict';
import type { HandlerContext } from '@connectrpc/connect';
import { Client } from 'pg';
import { openLog } from '../../../../../platform/log.ts';
import type { Core } from '../../../../../services/core/rpc/core.ts';
import {
  HistoryChanged,
  OPERATION_SIZES,
  openLogFeed,
  wakeAtCommits,
} from '../../../../../services/core/rpc/operation/log-feed.ts';
import { watchOperations } from '../../../../../services/core/rpc/operation/watch-operations.ts';
import { callerKey } from '../../../../../services/core/rpc/server/caller.ts';
import { openAnnounce } from '../../../../../services/core/storage/announce.ts';
import type { Database, Query, Statement } from '../../../../../services/core/storage/database.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import { OPERATION_LOG, type OperationRow } from '../../../../../services/core/storage/operation/operation-row.ts';
import type { LogPosition } from '../../../../../services/core/storage/ordered-log.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../../database.ts';

/** What a connection has read of the log in its transaction. */
const ROWS_READ: Statement = {
  name: '',
  text: `select sum(idx_tup_fetch + seq_tup_read)::int as count from pg_stat_xact_user_tables where relname like 'operation%'`,
};

/** Repeats a check for a minute; a failed read is repeated at the next poll. */
async function waitFor(check: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await check();
    } catch (error) {
      if (tries === 600) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

describe('openLogFeed()', () => {
  let test: TestDatabase;
  let database: Database;
  let feed: ReturnType<typeof openFeed>;
  let client: Client;
  const none = new AbortController().signal;

  before(async () => {
    test = await createMigratedDatabase();
    database = await openPool({ databaseUrl: test.url, poolSize: 4 });
    feed = openFeed(database);
    client = new Client({ connectionString: test.url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await feed.close();
    await database.close();
    await test.drop();
  });

  /** A feed of results that hears of commits. */
  function openFeed(of: Database, reads = of) {
    const log = openLog('test', 'silent');
    const opened = openLogFeed(OPERATION_LOG, OPERATION_SIZES, { database: of, reads, log });
    const listening = wakeAtCommits([opened], test.url, log);
    const close = async () => {
      opened.close();
      await listening.close();
    };
    return {
      ...opened,
      close,
      get waiting() {
        return opened.waiting;
      },
    };
  }
  const write = async (count: number, merchant = "'m' || n % 2"): Promise<void> => {
    const text = `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id,
      amount, currency, final_state_date)
      select gen_random_uuid(), 'OCT', 'OK', 'paid', ${merchant}, 't', 'u', n, 'EUR', now()
      from generate_series(1, ${count}) n`;
    await client.query(text);
    openAnnounce(database)([]);
  };
  const allAfter = async (start: LogPosition, count: number, of = feed): Promise<bigint[]> => {
    const sequences: bigint[] = [];
    let cursor = start;
    while (sequences.length < count) {
      const { rows, position } = await of.after(cursor);
      for (const { sequence } of rows) sequences.push(sequence);
      cursor = position;
      if (rows.length === 0) await of.changed(none, 60_000);
    }
    return sequences;
  };

  /** The position of the result before. */
  const positionBefore = ({ sequence }: LogPosition) => positionAt(sequence - 1n);
  const positionAt = async (sequence: bigint): Promise<LogPosition> => {
    const place = await feed.placeAt(sequence);
    return { sequence, mark: place?.mark ?? assert.fail() };
  };

  it('wakes every waiter on an announcement, with the same results', async () => {
    const start = await feed.last();
    assert.deepEqual(await feed.after(start), { rows: [], position: start });
    const waiters = Array.from({ length: 50 }, () => allAfter(start, 3));
    await write(3);
    const [first, ...others] = await Promise.all(waiters);
    for (const each of others) assert.deepEqual(each, first);
  });

  it('reads more than it caches, without a gap', async () => {
    const start = await feed.last();
    await write(12_345);
    const sequences = await allAfter(start, 12_345);
    const { rows } = await client.query<{ sequence: string }>(
      'select sequence from operation where sequence > $1 order by 1',
      [start.sequence.toString()],
    );
    assert.deepEqual(
      sequences,
      rows.map(({ sequence }) => BigInt(sequence)),
    );
    assert.deepEqual((await allAfter(start, 12_345)).slice(0, 3), sequences.slice(0, 3));
  });

  it('serves a late watcher without reading everything since the last one', async () => {
    let read = 0;
    const query: Query = async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
      const rows = await database.query<Row>(statement, values);
      read += rows.length;
      return rows;
    };
    const counted = openFeed({ ...database, query }, { ...database, query });
    try {
      await write(1);
      const start = await counted.last();
      await allAfter(await positionBefore(start), 1, counted);
      await write(25_000);
      read = 0;
      const last = await counted.last();
      assert.deepEqual(await allAfter(await positionBefore(last), 1, counted), [last.sequence]);
      assert(read < 5_000, `${read} rows read`);
      const [next] = await allAfter(start, 1, counted);
      assert.equal(next, start.sequence + 1n, 'an older cursor misses nothing');
    } finally {
      await counted.close();
    }
  });

  it('reads only the results of its merchant for a watcher that is behind, and goes on at the end of the log', async () => {
    // One connection, in one transaction: what it has read of the tables is known to it alone.
    const reads = await openPool({ databaseUrl: test.url, poolSize: 1 });
    const watched = openFeed(database, reads);
    const rowsRead = async () => {
      const [row] = await reads.query<{ count: number }>(ROWS_READ, []);
      return row?.count ?? assert.fail();
    };
    try {
      const start = await watched.last();
      await write(1, "'rare'");
      await write(12_345);
      await write(1, "'rare'");
      await write(12_345);
      await client.query('analyze operation');
      await reads.query({ name: '', text: 'begin' }, []);
      // PostgreSQL keeps one plan for all merchants after some calls.
      for (let call = 1; call <= 10; call++) {
        const { rows, position } = await watched.after(start, 'rare');
        assert.deepEqual(
          rows.map(({ sequence }) => sequence - start.sequence),
          [1n, 12_347n],
        );
        assert.deepEqual(position, await watched.last());
        assert.deepEqual((await watched.after(position, 'rare')).rows, []);
      }
      const read = await rowsRead();
      await reads.query({ name: '', text: 'commit' }, []);
      // All merchants' would be ten times 24 692.
      assert(read >= 40, `${read} rows read`);
      assert(read <= 1_000, `${read} rows read`);
    } finally {
      await watched.close();
      await reads.close();
    }
  });

  it('misses no result of a merchant that has more than a page', async () => {
    const start = await feed.last();
    await write(25_000);
    const mine: OperationRow[] = [];
    for (let [position, end] = [start, await feed.last()]; position.sequence < end.sequence; ) {
      const page = await feed.after(position, 'm1');
      mine.push(...page.rows.filter(({ merchantId }) => merchantId === 'm1'));
      position = page.position;
    }
    const text = `select sequence from operation where sequence > $1 and merchant_id = 'm1' order by 1`;
    const { rows } = await client.query<{ sequence: string }>(text, [start.sequence.toString()]);
    assert.equal(rows.length, 12_500);
    assert.deepEqual(
      mine.map(({ sequence }) => sequence.toString()),
      rows.map(({ sequence }) => sequence),
    );
  });

  it('lets the watchers of a merchant that are behind read one after the other', async () => {
    const reading = new Map<string, number>();
    let most = 0;
    const query: Query = async (statement, values) => {
      const merchant = String(values[0]);
      reading.set(merchant, (reading.get(merchant) ?? 0) + 1);
      most = Math.max(most, reading.get(merchant) ?? 0);
      try {
        return await database.query(statement, values);
      } finally {
        reading.set(merchant, (reading.get(merchant) ?? 0) - 1);
      }
    };
    const watched = openFeed(database, { ...database, query });
    try {
      const start = await watched.last();
      await write(12_345);
      await Promise.all(Array.from({ length: 20 }, () => watched.after(start, 'm1')));
      assert.equal(most, 1);
    } finally {
      await watched.close();
    }
  });

  it('holds no more than the bytes that it may', async () => {
    let behind = 0;
    const query: Query = (statement, values) => {
      behind += 1;
      return database.query(statement, values);
    };
    const sized = { ...OPERATION_LOG, bytesOf: () => 10 };
    const stores = { database, reads: { ...database, query }, log: openLog('test', 'silent') };
    const bounded = openLogFeed(sized, { ...OPERATION_SIZES, keptBytes: 55 }, stores);
    try {
      await write(7);
      const last = await bounded.last();
      await bounded.after(last);
      // Five are held: the newest is read after the four before it without the database.
      for (const [back, asked] of [
        [1, 0],
        [4, 0],
        [5, 2],
      ] as const) {
        const position = await positionAt(last.sequence - BigInt(back));
        behind = 0;
        assert.equal((await bounded.after(position)).rows.length, back);
        assert.equal(behind, asked, `${back} before the end`);
      }
    } finally {
      bounded.close();
    }
  });

  it('reads the results of many commits together', async () => {
    let reads = 0;
    const query: Query = (statement, values) => {
      reads += 1;
      return database.query(statement, values);
    };
    const counted = openFeed({ ...database, query }, { ...database, query });
    try {
      const [start, startedMs] = [await counted.last(), performance.now()];
      const watching = allAfter(start, 100, counted);
      for (let commit = 0; commit < 100; commit++) await write(1);
      await watching;
      const pauses = (performance.now() - startedMs) / 20;
      assert(reads <= 1.2 * pauses + 10, `${reads} reads in ${pauses} pauses`);
    } finally {
      await counted.close();
    }
  });

  it('listens again after its connection was cut', async () => {
    const start = await feed.last();
    const listening = "application_name = 'holdfast-listen' and datname = current_database()";
    // Those of feeds that were closed before need a moment to end.
    await waitFor(async () => {
      assert.equal((await client.query(`select from pg_stat_activity where ${listening}`)).rowCount, 1);
    });
    const cut = await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${listening}`);
    assert.equal(cut.rowCount, 1);
    await write(2);
    assert.equal((await allAfter(start, 2)).length, 2);
  });

  it('refuses to continue when the log has gone back, however far it has grown again', async () => {
    const lost = async (): Promise<LogPosition[]> => {
      const start = await feed.last();
      await write(3);
      await allAfter(start, 3);
      return [await positionBefore(await feed.last()), await feed.last()];
    };
    for (const grownAgain of [0, 1, 3, 50]) {
      const first = await feed.last();
      const positions = await lost();
      await client.query('delete from operation where sequence > $1', [first.sequence.toString()]);
      await client.query("select setval('operation_sequence_seq', $1)", [first.sequence.toString()]);
      if (grownAgain > 0) await write(grownAgain);
      for (const position of positions) {
        await waitFor(() => assert.rejects(feed.after(position), HistoryChanged));
      }
      assert.deepEqual((await allAfter(first, grownAgain)).length, grownAgain);
    }
  });

  it('keeps no waiter that has disconnected or timed out', async () => {
    const idle = feed.waiting;
    const gone = new AbortController();
    const waits = Array.from({ length: 20 }, () => feed.changed(gone.signal, 60_000));
    assert.equal(feed.waiting, idle + 20);
    gone.abort();
    await Promise.all(waits);
    await feed.changed(none, 0);
    assert.equal(feed.waiting, idle);
  });

  it('ends a stream when its client disconnects', async () => {
    const core = { feed, clock: () => new Date() } as unknown as Core;
    const gone = new AbortController();
    const values = { get: (key: unknown) => (key === callerKey ? { role: 'internal' } : undefined) };
    const context = { signal: gone.signal, values } as unknown as HandlerContext;
    const answers = watchOperations(
      core,
      { merchantId: '', resumeToken: '' } as never,
      context,
    ) as AsyncIterable<object>;
    const stream = answers[Symbol.asyncIterator]();
    await stream.next();
    const next = stream.next();
    gone.abort();
    assert.equal((await next).done, true);
    assert.equal(feed.waiting, 0);
  });
});
