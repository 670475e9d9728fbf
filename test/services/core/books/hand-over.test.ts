import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { openBooks } from '../../../../services/core/books/books.ts';
import { automaticCaptures, expiries } from '../../../../services/core/recovery/due-holds.ts';
import { type LoggedRow, readOperations } from '../../../../services/core/storage/operation/operation-row.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';
import { workOnce } from '../work-once.ts';

describe('handing results over', () => {
  const stage = forSuite(() => openStage());
  const shop = forSuite(() => openMerchant(stage, 'acme'));

  it('gives each result of a commit as the log has it, in its order', async () => {
    const { database } = stage.recovery;
    const handed: LoggedRow[] = [];
    const books = openBooks(
      database,
      () => undefined,
      undefined,
      (results) => handed.push(...results),
    );
    const words = { merchantReference: 'order 1', metadata: { shop: 'north', a: '1' } };
    await shop.hold({ ...words, captureAt: timestampFromMs(stage.clock.now() + 1_000) });
    for (let index = 0; index < 5; index++) await shop.hold(words);
    stage.clock.advance(1_000);
    await workOnce(automaticCaptures({ ...stage.recovery, books }));
    stage.clock.advance(8 * 24 * 3_600 * 1_000);
    await workOnce(expiries({ ...stage.recovery, books }));
    const [first] = handed;
    assert.deepEqual(
      handed.map(({ kind }) => kind),
      ['CAPTURE', ...Array.from({ length: 5 }, () => 'EXPIRY')],
    );
    assert.deepEqual(await readOperations(database.query, (first?.sequence ?? 0n) - 1n, 100), handed);
  });
});
