/** `npm run release` in a clone of this tree: what it refuses, and that what it writes is a whole release. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { listFiles, ROOT } from '../../.ci/sources.ts';

const run = promisify(execFile);
const VERSION = '9.8.7';

describe('npm run release', () => {
  let clone: string;
  const git = async (...args: string[]) => (await run('git', args, { cwd: clone })).stdout;
  const release = (...args: string[]) => run('npm', ['run', '--silent', 'release', '--', ...args], { cwd: clone });
  const refused = (...args: string[]) =>
    release(...args).then(
      () => assert.fail('not refused'),
      (error: { stderr: string }) => error.stderr.trim(),
    );
  const edit = async (file: string, change: (text: string) => string) =>
    writeFile(`${clone}/${file}`, change(await readFile(`${clone}/${file}`, 'utf8')));

  before(async () => {
    clone = await mkdtemp(`${tmpdir()}/holdfast-clone-`);
    for (const path of await listFiles()) await cp(ROOT + path, `${clone}/${path}`);
    await symlink(`${ROOT}node_modules`, `${clone}/node_modules`);
    await git('init', '--quiet');
    await git('config', 'user.name', 'a maintainer');
    await git('config', 'user.email', 'maintainer@example.com');
    // Else it is the tree before a change that nobody would notice.
    await edit('CHANGELOG.md', (text) => text.replace('## [Unreleased]\n', '## [Unreleased]\n\n- A change.\n'));
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'A tree');
  });
  after(() => rm(clone, { recursive: true }));

  it('refuses what is no later version, a tree that is changed, and a release without changes', async () => {
    assert.match(await refused(), /^which version\?/);
    assert.match(await refused('9.8'), /^which version\?/);
    const { version } = JSON.parse(await readFile(`${clone}/package.json`, 'utf8'));
    assert.equal(await refused(version), `${version} is not after ${version}`);
    assert.equal(await refused('0.99.99'), `0.99.99 is not after ${version}`);
    await writeFile(`${clone}/left.txt`, '');
    assert.equal(await refused(VERSION), 'commit or stash what is changed first');
    await rm(`${clone}/left.txt`);
    await edit('CHANGELOG.md', (text) => text.replace(/(?<=## \[Unreleased\]\n)[\s\S]*?(?=\n## )/, ''));
    await git('commit', '--quiet', '--all', '--message', 'Nothing to tell');
    assert.equal(await refused(VERSION), 'CHANGELOG.md has nothing under Unreleased');
    await git('reset', '--quiet', '--hard', 'HEAD~');
    assert.equal(await git('status', '--porcelain'), '');
  });

  it('writes the version everywhere, pins the release, and packs the clients', async () => {
    const { stdout } = await release(VERSION);
    assert.match(
      stdout,
      new RegExp(`^git tag -a v${VERSION} -m v${VERSION} && git push origin HEAD v${VERSION}$`, 'm'),
    );
    assert.match(stdout, new RegExp(`^docker build --tag "\\$REGISTRY/holdfast:${VERSION}" `, 'm'));
    assert.deepEqual((await git('status', '--porcelain', '--untracked-files=all')).trimEnd().split('\n').sort(), [
      ' M CHANGELOG.md',
      ' M client/package.json',
      ' M client/python/holdfast/__init__.py',
      ' M client/version.ts',
      ' M docs/clients.md',
      ' M package-lock.json',
      ' M package.json',
      ' M services/core/storage/releases/releases.json',
      `?? .ci/releases/${VERSION}.binpb.gz`,
      `?? services/core/storage/releases/${VERSION}.sql`,
      `?? test/services/core/storage/released/${VERSION}.jsonl`,
    ]);
    await run('tar', ['-tf', `${clone}/dist/holdfast-client-${VERSION}.tgz`]);
    assert.match(await readFile(`${clone}/dist/holdfast-${VERSION}.py`, 'utf8'), new RegExp(`"${VERSION}"`));
    // These tests compare the places of the version, and upgrade the rows that were recorded.
    const tests = ['test/house/{version,migrations}.test.ts', 'test/services/core/storage/released/*.test.ts'];
    await run('npx', ['mocha', ...tests], { cwd: clone }).catch((error) => assert.fail(error.stdout));
  });

  it('does not make a release twice', async () => {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', `Release ${VERSION}`);
    assert.equal(await refused(VERSION), `${VERSION} is not after ${VERSION}`);
    assert.equal(await refused('9.8.8'), 'CHANGELOG.md has nothing under Unreleased');
  });
});
