import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { ROOT } from '../../.ci/sources.ts';
import { ATTACKS, BEGIN, END } from '../torture/edge/table.ts';

describe('the table of attacks in test/torture/edge/results.md', () => {
  it('has a row for each attack of npm run torture -- edge, in their order', async () => {
    const text = await readFile(`${ROOT}test/torture/edge/results.md`, 'utf8');
    const table = text.slice(text.indexOf(BEGIN), text.indexOf(END));
    const rows = table.split('\n').filter((line) => line.startsWith('| '));
    const named = rows.slice(1).map((line) => line.split(' | ').slice(0, 2));
    const made = ATTACKS.map(({ name, expects }) => [`| ${name}`, expects]);
    assert.deepEqual(named, made);
  });
});
