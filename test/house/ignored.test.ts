import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';

describe('.gitignore', () => {
  it('keeps data and secrets out of the repository, as folders or as symbolic links', async () => {
    for (const path of ['.data', '.data/quickstart.json', 'node_modules', '.env']) {
      await promisify(execFile)('git', ['check-ignore', '-q', '--no-index', path], { cwd: ROOT });
    }
  });
});
