import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Watched } from '../merchants/result-watcher.ts';
import type { Scene, Stage } from '../play.ts';

type WithBooks = Stage & { sql(text: string): Promise<readonly object[]> };

/** Each watcher has seen every operation once, in commit order. */
export async function streamsWhole({ stage, merchants }: Scene<WithBooks, Watched>): Promise<string> {
  const rows = await stage.sql('select request_id as id from operation order by sequence');
  const all = rows.map((row) => (row as { id: string }).id);
  assert(all.length > 0, 'there are no operations, so nothing is shown');
  const figures: string[] = [];
  for (const { seen, stop, resumed } of merchants.watchers) {
    for (let waitedMs = 0; seen.at(-1) !== all.at(-1) && waitedMs < 10_000; waitedMs += 100) await delay(100);
    await stop();
    assert.deepEqual(seen, all, `every operation once, in commit order, by a stream resumed ${resumed()} times`);
    figures.push(`${seen.length} operations seen, resumed ${resumed()} times`);
  }
  return `${figures.join('; ')}: no gap, no disorder, none twice`;
}
