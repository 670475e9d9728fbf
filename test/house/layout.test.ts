import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { layoutFaults } from '../../.ci/layout.ts';
import { listFiles, ROOT } from '../../.ci/sources.ts';

describe('the layout of the tree', () => {
  it('keeps the data out of the repository, as a folder or as a symbolic link', async () => {
    for (const path of ['.data', '.data/quickstart.json', 'node_modules', '.env']) {
      await promisify(execFile)('git', ['check-ignore', '-q', '--no-index', path], { cwd: ROOT });
    }
  });

  it('is kept', async () => {
    assert.deepEqual(await layoutFaults(await listFiles()), []);
  });
});
