import assert from 'node:assert/strict';
import { tableOf } from '../../../services/conformance/table.ts';

describe('tableOf()', () => {
  it('has a line for each check, its faults below it, and a count', () => {
    const table = tableOf([
      { name: 'a: one', outcome: 'passed', why: '', ms: 12 },
      { name: 'b: another', outcome: 'failed', why: 'this\nand that', ms: 3 },
      { name: 'c: third', outcome: 'skipped', why: 'no token', ms: 0 },
    ]);
    assert.deepEqual(table.split('\n'), [
      'ok     a: one      12 ms',
      'FAILED b: another',
      '         this',
      '         and that',
      '-      c: third    skipped: no token',
      '1 passed, 1 failed, 1 skipped',
      '',
    ]);
  });
});
