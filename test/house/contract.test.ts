import assert from 'node:assert/strict';
import { cp, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { breakingFaults } from '../../.ci/contract.ts';
import { ROOT } from '../../.ci/sources.ts';

describe('the contract', () => {
  it('is held against the newest release, whatever git knows', async () => {
    await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-contract-`);
    await cp(`${ROOT}proto/holdfast`, `${folder.path}/proto/holdfast`, { recursive: true });
    for (const shared of ['buf', 'google', 'grpc', 'buf.yaml']) {
      const place = shared === 'buf.yaml' ? shared : `proto/${shared}`;
      await cp(ROOT + place, `${folder.path}/${place}`, { recursive: true });
    }
    assert.deepEqual(await breakingFaults(folder.path), []);
    const file = `${folder.path}/proto/holdfast/v1/oct.proto`;
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/^ {2}string request_id = 1\b.*;$/m, ''));
    assert.notEqual(await readFile(file, 'utf8'), text);
    await assert.rejects(breakingFaults(folder.path), /oct\.proto:.*request_id/);
  });
});
