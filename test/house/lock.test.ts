import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { completed, faultsOf, type Locked } from '../../.ci/lock.ts';
import { ROOT } from '../../.ci/sources.ts';

const integrity = `sha512-${'A'.repeat(86)}==`;

describe('the lock file', () => {
  const faulty: readonly (readonly [string, Locked])[] = [
    ['without a hash', { version: '1.0.0' }],
    ['with an empty hash', { version: '1.0.0', integrity: '' }],
    ['with a hash that can be collided with', { version: '1.0.0', integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
    ['without a hash, optional', { version: '1.0.0', optional: true }],
    ['without a hash, for Linux', { version: '1.0.0', optional: true, os: 'linux', cpu: 'x64' }],
    ['without a hash, for glibc', { version: '1.0.0', optional: true, os: ['linux'], cpu: ['arm64'], libc: ['glibc'] }],
    ['that names a registry', { version: '1.0.0', integrity, resolved: 'https://packages.example/a.tgz' }],
    ['of a git repository', { version: '1.0.0', integrity, resolved: 'git+ssh://git@example.com/a.git#0123' }],
    ['that is a link', { version: '1.0.0', integrity, link: true }],
  ];
  for (const [name, entry] of faulty) {
    it(`may hold no package ${name}`, () => {
      const faults = faultsOf({ packages: { '': {}, 'node_modules/a': entry } });
      assert.equal(faults.length, 1);
      assert.match(faults[0] ?? '', /node_modules\/a/);
    });
  }

  const sound: readonly (readonly [string, Locked])[] = [
    ['with a hash', { version: '1.0.0', integrity }],
    ['for musl without one', { version: '1.0.0', optional: true, os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
    ['for another system without one', { version: '1.0.0', optional: true, os: ['win32'], cpu: ['x64'] }],
  ];
  for (const [name, entry] of sound) {
    it(`may hold a package ${name}`, () => {
      assert.deepEqual(faultsOf({ packages: { '': {}, 'node_modules/a': entry } }), []);
    });
  }

  it('gets the binaries of every platform, and no engines', () => {
    const entry = {
      version: '1.0.0',
      integrity,
      engines: { node: '>=22' },
      optionalDependencies: { 'a-linux-x64': '2.0.0' },
    };
    const { packages } = completed({ packages: { '': {}, 'node_modules/a': entry } });
    assert.equal(packages['node_modules/a']?.engines, undefined);
    const binary = { version: '2.0.0', cpu: ['x64'], optional: true, os: ['linux'], engines: undefined };
    assert.deepEqual(packages['node_modules/a-linux-x64'], binary);
  });

  it('pins the Node that runs everything, and no install script downloads it', async () => {
    const { packages } = JSON.parse(await readFile(`${ROOT}package-lock.json`, 'utf8'));
    for (const processor of ['x64', 'arm64']) {
      const entry = packages[`node_modules/node-linux-${processor}`];
      assert.match(entry.integrity, /^sha512-/);
      assert.equal(entry.hasInstallScript, undefined);
    }
    assert.equal(packages['node_modules/node'], undefined);
  });
});

describe('what runs after npm ci', () => {
  it('accepts this Node', async () => {
    await promisify(execFile)(process.execPath, ['.ci/runtime.mjs'], { cwd: ROOT });
  });

  it('fails when npm skipped the Node package', async () => {
    const older = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });
      await import('./.ci/runtime.mjs');`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', older], { cwd: ROOT });
    await assert.rejects(run, { code: 1, stderr: /needs Node 24.*package-lock\.json/ });
  });
});
