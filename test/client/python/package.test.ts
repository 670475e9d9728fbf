/** The package in Python: it installs, and type checkers accept it and find what its callers get wrong. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '../../../.ci/sources.ts';
import { readCodeBlocks } from '../../docs/code-blocks.ts';
import { isInstalled } from '../../docs/is-installed.ts';
import { useStack } from '../../stack.ts';

const run = promisify(execFile);
const PACKAGE = `${ROOT}client/python`;

describe('the package in Python', () => {
  let folder: string;
  before(async function () {
    if (!isInstalled('python3')) this.skip();
    folder = await mkdtemp(`${tmpdir()}/holdfast-python-package-`);
  });
  after(() => folder && rm(folder, { recursive: true }));

  it('passes mypy in its strictest mode', async function () {
    if (!isInstalled('mypy')) this.skip();
    await mypy(`${PACKAGE}/holdfast`);
  });

  it('is typed for its callers', async function () {
    if (!isInstalled('mypy')) this.skip();
    const [, readme = ''] = examples();
    await writeFile(`${folder}/caller.py`, readme);
    await mypy(`${folder}/caller.py`);
    const wrong = 'from holdfast import Holdfast, verify\nHoldfast("http://x", 1)\nverify({}, b"", [None])\n';
    await writeFile(`${folder}/wrong.py`, wrong);
    const { stdout } = await mypy(`${folder}/wrong.py`).catch((error) => error);
    assert.match(stdout, /wrong\.py:2: error: Argument 2 to "Holdfast" has incompatible type "int"/);
    assert.match(stdout, /wrong\.py:3: error: List item 0 has incompatible type "None"/);
  });

  it('is installed by pip, with its types and its licence, and plays its README', async function () {
    const builder = await builderOf('python3', '/usr/bin/python3');
    if (builder === undefined) this.skip();
    // A copy: a build writes beside the sources. The test may not ask a registry for setuptools.
    await cp(PACKAGE, `${folder}/python`, { recursive: true });
    const offline = ['--no-build-isolation', '--no-index', '--no-deps', '--quiet', '--target', `${folder}/installed`];
    await run(builder, ['-m', 'pip', 'install', ...offline, `${folder}/python`]);
    await readFile(`${folder}/installed/holdfast/py.typed`);
    const { file } = await useStack();
    for (const [index, example] of examples().entries()) {
      await writeFile(`${folder}/example.py`, example.replace('http://127.0.0.1:8080', file.baseUrl));
      const env = { ...process.env, PYTHONPATH: `${folder}/installed`, HOLDFAST_API_KEY: file.apiKey };
      const { stdout } = await run('python3', [`${folder}/example.py`], { env });
      assert.equal(stdout, '', `example ${index}`);
    }
  });

  for (const place of ['client', 'client/python']) {
    it(`has the licence of the project in ${place}`, async () => {
      assert.equal(await readFile(`${ROOT}${place}/LICENSE`, 'utf8'), await readFile(`${ROOT}LICENSE`, 'utf8'));
    });
  }

  function mypy(path: string) {
    const env = { ...process.env, MYPYPATH: PACKAGE };
    return run('mypy', ['--strict', '--cache-dir', `${folder}/mypy`, path], { env }).catch((error) => {
      if (path.endsWith('wrong.py')) throw error;
      assert.fail(error.stdout);
    });
  }
});

/** The first Python that can build a package without a registry. */
async function builderOf(...pythons: readonly string[]): Promise<string | undefined> {
  for (const python of pythons) {
    const works = run(python, ['-c', 'import setuptools, wheel, pip']).then(
      () => true,
      () => false,
    );
    if (await works) return python;
  }
  return undefined;
}

/** What the guide and the README show; receivers, which have names, are run by test/operate/receivers.test.ts. */
function examples(): readonly string[] {
  const blocks = ['docs/clients.md', 'client/python/README.md', 'docs/stories.md'].flatMap(readCodeBlocks);
  return blocks.filter(({ language, name }) => language === 'python' && name === '').map(({ code }) => code);
}
