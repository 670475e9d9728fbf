import assert from 'node:assert/strict';
import { layoutFaults } from '../../.ci/layout.ts';
import { listFiles } from '../../.ci/sources.ts';

describe('the layout of the tree', () => {
  it('is kept', async () => {
    assert.deepEqual(await layoutFaults(await listFiles()), []);
  });
});
