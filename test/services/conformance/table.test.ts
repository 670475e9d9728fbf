import assert from 'node:assert/strict';
import { codeOf, type Verdict } from '../../../services/conformance/run.ts';
import { tableOf } from '../../../services/conformance/table.ts';

const risk = 'double charges';
const passed: Verdict = { name: 'a: one', risk, outcome: 'passed', why: '', ms: 12 };
const failed: Verdict = { name: 'b: another', risk, outcome: 'failed', why: 'this\nand that', ms: 3 };
const skipped: Verdict = { name: 'c: third', risk: 'crashes', outcome: 'skipped', why: 'no token', ms: 0 };

describe('tableOf()', () => {
  it('has a line for each check, its faults below it, what was checked of each risk, and a count', () => {
    assert.deepEqual(tableOf([passed, failed, skipped]).split('\n'), [
      'ok     a: one      12 ms',
      'FAILED b: another',
      '         this',
      '         and that',
      '-      c: third    skipped: no token',
      '',
      'Checked against',
      '  double charges: 2 of 2, 1 failed',
      '  crashes: 0 of 1',
      '      skipped: 1 × no token',
      '',
      '1 passed, 1 failed, 1 skipped, 0 no matter of this processor',
      '',
    ]);
  });

  it('says of a run that skipped most that it has not judged', () => {
    assert.match(tableOf([passed, skipped]), /not judged, because most was skipped\n$/);
  });
});

describe('codeOf()', () => {
  it('is 0 when all that the processor does passed, whatever it does not do', () => {
    const noMatter: Verdict = { ...skipped, outcome: 'noMatter' };
    assert.equal(codeOf([passed, noMatter, noMatter, noMatter]), 0);
    assert.match(
      tableOf([passed, noMatter, noMatter]),
      /^1 passed, 0 failed, 0 skipped, 2 no matter of this processor\n$/m,
    );
  });

  it('is 0 for a pass, 1 for a failure, and 2 when most was skipped', () => {
    assert.deepEqual([codeOf([passed, passed, skipped]), codeOf([passed, failed]), codeOf([failed])], [0, 1, 1]);
    assert.deepEqual([codeOf([passed, skipped]), codeOf([skipped]), codeOf([])], [2, 2, 2]);
  });
});
