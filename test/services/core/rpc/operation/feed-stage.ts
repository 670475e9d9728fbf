/** A feed over a real log, and commits to it. */
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { openLog } from '../../../../../platform/log.ts';
import { openOperationFeed } from '../../../../../services/core/rpc/operation/operation-feed.ts';
import { openAnnounce } from '../../../../../services/core/storage/announce.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import {
  type LoggedRow,
  type LogPosition,
  SERVER,
} from '../../../../../services/core/storage/operation/operation-row.ts';
import { createMigratedDatabase } from '../../../../database.ts';

export type FeedStage = Awaited<ReturnType<typeof openFeedStage>>;

export async function openFeedStage() {
  const test = await createMigratedDatabase();
  const database = await openPool({ databaseUrl: test.url, poolSize: 4 });
  const feed = openOperationFeed(database, database, test.url, openLog('test', 'silent'));
  const client = new Client({ connectionString: test.url });
  await client.connect();
  const none = new AbortController().signal;

  /** Commits results without announcing them. */
  const commit = (count: number, merchant = "'m' || n % 2"): Promise<LoggedRow[]> => {
    const text = `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id,
      amount, currency, final_state_date)
      select gen_random_uuid(), 'OCT', 'OK', 'paid', ${merchant}, 't', 'u', n, 'EUR', now()
      from generate_series(1, ${count}) n returning *, ${SERVER} as server`;
    return database.query<LoggedRow>({ name: '', text }, []);
  };
  const write = async (count: number, merchant?: string): Promise<void> => {
    await commit(count, merchant);
    openAnnounce(database)([]);
  };
  /** The sequences of so many results after a position, as a watcher gets them. */
  const allAfter = async (start: LogPosition, count: number, of = feed): Promise<bigint[]> => {
    const sequences: bigint[] = [];
    let cursor = start;
    while (sequences.length < count) {
      const { results, position } = await of.after(cursor);
      for (const { sequence } of results) sequences.push(sequence);
      cursor = position;
      if (results.length === 0) await of.changed(none, 60_000);
    }
    return sequences;
  };

  /** The position of the result before. */
  const positionBefore = async ({ sequence }: LogPosition): Promise<LogPosition> => {
    const place = await feed.placeAt(sequence - 1n);
    return { sequence: sequence - 1n, requestId: place?.requestId ?? assert.fail() };
  };

  return {
    url: test.url,
    database,
    feed,
    client,
    commit,
    /** Commits results and announces them. */
    write,
    allAfter,
    positionBefore,
    async close() {
      await client.end();
      await feed.close();
      await database.close();
      await test.drop();
    },
  };
}
