import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { listFiles, ROOT } from '../../.ci/sources.ts';

describe('docs/contributing.md', () => {
  it('names only files and folders that exist', async () => {
    const files = await listFiles();
    const paths = pathsIn(await readFile(`${ROOT}docs/contributing.md`, 'utf8'));
    assert(paths.length > 80, 'the pattern finds the paths');
    const exists = (path: string) =>
      files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
    assert.deepEqual(
      paths.filter((path) => !exists(path)),
      [],
    );
  });
});

/** Paths in backticks, relative to the root: with a slash, not leading, or with one of our file extensions. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return quoted.filter(
    (code) => /^\.?\w[\w./-]*$/.test(code) && (/\//.test(code) || /\.(ts|js|md|sql|yml|json|proto)$/.test(code)),
  );
}
