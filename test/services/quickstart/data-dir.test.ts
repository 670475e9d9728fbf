import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openDataDir } from '../../../services/quickstart/data-dir.ts';
import { keepSecrets } from '../../../services/quickstart/secrets.ts';

describe('DATA_DIR', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(`${tmpdir()}/holdfast-data-`);
  });

  afterEach(() => rm(directory, { recursive: true }));

  it('belongs to one launcher at a time', async () => {
    const first = await openDataDir(directory);
    await assert.rejects(openDataDir(directory), /another launcher works in .*; stop it, or set DATA_DIR/);
    first.close();
    (await openDataDir(directory)).close();
  });

  it('is made with the folders above it, and says where it cannot be', async function () {
    const path = `${directory}/new/folder`;
    (await openDataDir(path)).close();
    assert.deepEqual((await readdir(path)).sort(), ['logs', 'run']);
    await assert.rejects(openDataDir(`${path}/run/lock/below`), /DATA_DIR: cannot make .*below: ENOTDIR/);
    if (process.platform !== 'linux') this.skip();
    await assert.rejects(openDataDir('/proc/holdfast'), { message: 'DATA_DIR: cannot make /proc/holdfast: ENOENT' });
  });

  it('is no folder in which everybody may write, such as /tmp, whose mode stays', async () => {
    await chmod(directory, 0o1777);
    await assert.rejects(openDataDir(directory), /DATA_DIR: everybody may write to .*; set DATA_DIR to another folder/);
    assert.equal((await stat(directory)).mode & 0o7777, 0o1777);
    assert.deepEqual(await readdir(directory), []);
  });

  it('stores its secrets, readable by their owner only', async () => {
    const secrets = await keepSecrets(directory);
    assert.equal(new Set(Object.values(secrets)).size, Object.keys(secrets).length);
    for (const secret of Object.values(secrets)) assert(secret.length >= 43);
    assert.deepEqual(await keepSecrets(directory), secrets);
    assert.equal((await stat(`${directory}/secrets.json`)).mode & 0o777, 0o600);
  });

  it('gets a token for metrics when it was made before there were any, and keeps it', async () => {
    const { metricsToken, ...before } = await keepSecrets(directory);
    await writeFile(`${directory}/secrets.json`, JSON.stringify(before));
    const secrets = await keepSecrets(directory);
    assert.notEqual(secrets.metricsToken, metricsToken);
    assert.deepEqual({ ...secrets, metricsToken }, { ...before, metricsToken });
    assert.deepEqual(await keepSecrets(directory), secrets);
  });

  it('gets no new secrets when the old ones are damaged', async () => {
    await writeFile(`${directory}/secrets.json`, '{"gatewayToken":"short"}');
    await assert.rejects(keepSecrets(directory), /secrets\.json is damaged: .*gatewayToken/);
  });
});
