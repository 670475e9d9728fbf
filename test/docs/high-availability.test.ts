import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { namedCode } from './code-blocks.ts';
import { isInstalled } from './is-installed.ts';

describe('docs/high-availability.md', () => {
  it('makes an authority, and a certificate for every node of docker-compose.ha.yml', async function () {
    for (const program of ['bash', 'openssl']) if (!isInstalled(program)) this.skip();
    const folder = await mkdtemp(`${tmpdir()}/holdfast-certificates-`);
    const script = namedCode('high-availability.md')('certificates');
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder });
    const read = async (name: string) => new X509Certificate(await readFile(`${folder}/certificates/${name}`));
    const [authority, node] = [await read('ca.pem'), await read('node.pem')];
    await rm(folder, { recursive: true });
    assert(authority.ca && node.checkIssued(authority) && node.verify(authority.publicKey));
    for (const name of ['etcd-1', 'etcd-2', 'etcd-3', 'database-1', 'database-2', 'postgres', 'localhost'])
      assert.equal(node.checkHost(name), name);
  });
});
