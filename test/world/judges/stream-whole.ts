import assert from 'node:assert/strict';
import type { Watched } from '../merchants/watcher.ts';
import type { Scene } from '../play.ts';
import type { TwoCores } from '../stage/two-cores.ts';

/** A watcher has seen every operation once, in commit order. */
export async function streamWhole({ stage, merchants }: Scene<TwoCores, Watched>): Promise<string> {
  const { sequences } = merchants;
  assert(sequences.length > 0, 'the watcher has seen nothing');
  const rows = await stage.database.query<{ sequence: bigint }>({ name: '', text: ALL }, []);
  const all = rows.map(({ sequence }) => sequence);
  assert.deepEqual(sequences, all.slice(0, sequences.length), 'every operation once, in commit order');
  return `${sequences.length} of ${all.length} operations seen: no gap, no disorder, none twice`;
}

const ALL = 'select sequence from operation order by sequence';
