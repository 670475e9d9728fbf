import assert from 'node:assert/strict';
import { openMerchant, sql } from '../services/core/shop.ts';
import { openStage } from '../services/core/stage.ts';
import { forSuite } from '../suite.ts';
import { readCodeBlocks } from './code-blocks.ts';

describe('docs/runbook.md', () => {
  const stage = forSuite(() => openStage());

  it('has a query of the encryption keys that are needed', async () => {
    const shop = await openMerchant(stage, 'acme');
    const [open, recent, old] = [await shop.hold(), await shop.hold(), await shop.hold()];
    for (const each of [recent, old]) await shop.release(each);
    const made: [requestId: string, key: string, daysAgo: number][] = [
      [open.requestId, 'of-open', 8],
      [recent.requestId, 'of-recent', 6],
      [old.requestId, 'of-old', 8],
    ];
    const alter = `update hold set id_key = $2, created_at = now() - $3 * interval '1 day' where request_id = $1`;
    for (const values of made) await sql(stage, alter, values);
    const code = readCodeBlocks('docs/runbook.md').find(({ name }) => name === 'keys')?.code ?? assert.fail();
    const rows = await sql<{ key: string; holds: string; secrets: string }>(stage, code);
    assert.deepEqual(rows.map(({ key, holds, secrets }) => [key, Number(holds), Number(secrets)]).sort(), [
      ['of-open', 1, 0],
      ['of-recent', 1, 0],
      ['test', 0, 1],
    ]);
  });
});
