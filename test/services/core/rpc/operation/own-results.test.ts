import assert from 'node:assert/strict';
import { openLog } from '../../../../../platform/log.ts';
import { openOperationFeed } from '../../../../../services/core/rpc/operation/operation-feed.ts';
import { openAnnounce } from '../../../../../services/core/storage/announce.ts';
import type { Query, Statement } from '../../../../../services/core/storage/database.ts';
import type { LoggedRow, LogPosition } from '../../../../../services/core/storage/operation/operation-row.ts';
import { forSuite } from '../../../../suite.ts';
import { openFeedStage } from './feed-stage.ts';

describe('the results of a core in its own feed', () => {
  const stage = forSuite(openFeedStage);
  const commit = (count: number) => stage.commit(count);
  const announce = () => openAnnounce(stage.database)([]);
  const sequences = (results: readonly LoggedRow[]) => results.map(({ sequence }) => sequence);

  /** Brings the newest result into the feed's memory. Returns its position. */
  const remembered = async (): Promise<LogPosition> => {
    await stage.write(1);
    const newest = await stage.feed.last();
    await stage.allAfter(await stage.positionBefore(newest), 1);
    return newest;
  };

  it('has the results of its own core without reading them', async () => {
    const newest = await remembered();
    const [first, ...others] = await commit(3);
    stage.feed.append([first as LoggedRow]);
    stage.feed.append(others);
    const { results } = await stage.feed.after(newest);
    assert.equal(results.length, 3);
    for (const [index, result] of [first, ...others].entries()) assert.equal(results[index], result);
  });

  it('wakes waiters for the results of its own core while the log cannot be read', async () => {
    const mayRead = Promise.withResolvers<void>();
    let isHeld = false;
    const query: Query = async (statement, values) => {
      if (isHeld) await mayRead.promise;
      return stage.database.query(statement, values);
    };
    const held = openOperationFeed({ ...stage.database, query }, stage.database, stage.url, openLog('test', 'silent'));
    try {
      await stage.allAfter(await stage.positionBefore(await remembered()), 1, held);
      isHeld = true;
      const woken = held.changed(new AbortController().signal, 60_000);
      held.append(await commit(2));
      await woken;
    } finally {
      mayRead.resolve();
      await held.close();
    }
  });

  it('reads the results of other cores that are between those of its own', async () => {
    const newest = await remembered();
    const [own, others, ownAgain] = [await commit(1), await commit(2), await commit(1)];
    stage.feed.append(own);
    stage.feed.append(ownAgain);
    announce();
    assert.deepEqual(await stage.allAfter(newest, 4), sequences([...own, ...others, ...ownAgain]));
  });

  it('takes nothing after a result that did not follow, until it is read: the history may be another', async () => {
    const newest = await remembered();
    const [next] = (await commit(1)) as [LoggedRow];
    const invented = (result: LoggedRow) => ({ ...result, amount: 0n });
    stage.feed.append([invented({ ...next, sequence: newest.sequence })]);
    stage.feed.append([invented(next)]);
    announce();
    assert.deepEqual(await stage.allAfter(newest, 1), [next.sequence]);
    assert.deepEqual((await stage.feed.after(newest)).results, [next]);
    // Then the next ones are taken again, unless the log is read just before.
    for (let isTaken = false; !isTaken; ) {
      const [last] = (await commit(1)) as [LoggedRow];
      stage.feed.append([last]);
      isTaken = (await stage.feed.after(newest)).results.at(-1) === last;
    }
  });

  it('reads a result of its own core that another server has committed', async () => {
    const newest = await remembered();
    const [result] = (await commit(1)) as [LoggedRow];
    stage.feed.append([{ ...result, amount: 0n, server: 'another' }]);
    announce();
    assert.deepEqual(await stage.allAfter(newest, 1), [result.sequence]);
    assert.deepEqual((await stage.feed.after(newest)).results, [result]);
  });

  it('repeats no result that arrives while it is read', async () => {
    const hasRead = Promise.withResolvers<void>();
    const mayReturn = Promise.withResolvers<void>();
    let isHeld = false;
    const query: Query = async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
      const rows = await stage.database.query<Row>(statement, values);
      if (isHeld && rows.length > 1) {
        hasRead.resolve();
        await mayReturn.promise;
      }
      return rows;
    };
    const held = openOperationFeed({ ...stage.database, query }, stage.database, stage.url, openLog('test', 'silent'));
    try {
      const newest = await remembered();
      await stage.allAfter(await stage.positionBefore(newest), 1, held);
      isHeld = true;
      const watching = stage.allAfter(newest, 5, held);
      const before = await commit(2);
      announce();
      await hasRead.promise;
      const after = await commit(3);
      held.append(before);
      held.append(after);
      mayReturn.resolve();
      assert.deepEqual(await watching, sequences([...before, ...after]));
      assert.deepEqual((await held.after(newest)).results, [...before, ...after]);
    } finally {
      await held.close();
    }
  });
});
