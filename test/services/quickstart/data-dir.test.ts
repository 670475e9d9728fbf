import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
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

  it('stores its secrets, readable by their owner only', async () => {
    const secrets = await keepSecrets(directory);
    assert.equal(new Set(Object.values(secrets)).size, Object.keys(secrets).length);
    for (const secret of Object.values(secrets)) assert(secret.length >= 43);
    assert.deepEqual(await keepSecrets(directory), secrets);
    assert.equal((await stat(`${directory}/secrets.json`)).mode & 0o777, 0o600);
  });

  it('gets no new secrets when the old ones are damaged', async () => {
    await writeFile(`${directory}/secrets.json`, '{"gatewayToken":"short"}');
    await assert.rejects(keepSecrets(directory), /secrets\.json is damaged: .*gatewayToken/);
  });
});
