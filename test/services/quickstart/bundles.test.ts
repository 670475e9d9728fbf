import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { ROOT } from '../../../.ci/sources.ts';
import { BUNDLES } from '../../../services/quickstart/bundles.ts';

const MODULE = 'services/quickstart/bundles.ts';
const ENTRY = 'services/core/index.ts';

describe('services/quickstart/bundles.ts', () => {
  let folder: string;

  /** A project of one process, with its bundle. */
  beforeEach(async () => {
    folder = await mkdtemp(`${tmpdir()}/holdfast-bundles-`);
    await mkdir(`${folder}/services/core`, { recursive: true });
    await mkdir(`${folder}/${BUNDLES}/services/core`, { recursive: true });
    await cp(ROOT + MODULE, `${folder}/${MODULE}`);
    await writeFile(`${folder}/${ENTRY}`, 'as it was bundled');
    await writeFile(`${folder}/${BUNDLES}/services/core/index.mjs`, '');
    const inputs = [ENTRY];
    const digest = (await load(folder)).digestOf(inputs);
    await writeFile(`${folder}/${BUNDLES}/manifest.json`, JSON.stringify({ inputs, digest }));
  });

  afterEach(() => rm(folder, { recursive: true }));

  it('starts the bundle of the sources as they are', async () => {
    assert.equal((await load(folder)).startFile(ENTRY), `${folder}/${BUNDLES}/services/core/index.mjs`);
  });

  it('starts the sources when one has changed', async () => {
    await writeFile(`${folder}/${ENTRY}`, 'as it was changed');
    assert.equal((await load(folder)).startFile(ENTRY), `${folder}/${ENTRY}`);
  });

  it('starts the sources when one was deleted', async () => {
    const { startFile } = await load(folder);
    await rm(`${folder}/${ENTRY}`);
    assert.equal(startFile(ENTRY), `${folder}/${ENTRY}`);
  });

  it('starts the sources when the project was moved: a bundle names files beside its code', async () => {
    await rename(folder, `${folder}-moved`);
    folder += '-moved';
    assert.equal((await load(folder)).startFile(ENTRY), `${folder}/${ENTRY}`);
  });

  it('starts the sources when there is no manifest, or another process has the bundle', async () => {
    const { startFile } = await load(folder);
    assert.equal(startFile('gateway/index.ts'), `${folder}/gateway/index.ts`);
    await rm(`${folder}/${BUNDLES}/manifest.json`);
    assert.equal(startFile(ENTRY), `${folder}/${ENTRY}`);
  });
});

function load(folder: string): Promise<typeof import('../../../services/quickstart/bundles.ts')> {
  return import(`${folder}/${MODULE}`);
}
