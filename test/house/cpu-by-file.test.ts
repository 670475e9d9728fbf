import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';

/** Uses half a second of CPU. */
const BURN = 'for (const { user } = process.cpuUsage(); process.cpuUsage().user - user < 500_000; );';
const FILES = {
  'child.cjs': `it('starts one', () => {
    require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(BURN)}]);
  });`,
  'idle.cjs': `it('waits', () => new Promise((done) => setTimeout(done, 700)));`,
  'worker.cjs': `it('works', () => { ${BURN} });`,
};

describe('test/cpu-by-file.ts', () => {
  it('counts the CPU of each file, and of the processes that it starts', async function () {
    if (process.platform !== 'linux') this.skip();
    await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-cpu-`);
    for (const [name, code] of Object.entries(FILES)) await writeFile(`${folder.path}/${name}`, code);
    const report = `${folder.path}/report`;
    const options = ['--no-config', '--timeout=0', '--parallel', '--jobs=3', '--require', 'test/cpu-by-file.ts'];
    await promisify(execFile)(
      process.execPath,
      ['node_modules/mocha/bin/mocha.js', ...options, `${folder.path}/*.cjs`],
      { env: { ...process.env, TEST_CPU: report } },
    );
    const lines = (await readFile(report, 'utf8')).trim().split('\n');
    const costs = new Map(
      lines.map((line) => {
        const [own, children, file = ''] = line.split('\t');
        return [file.split('/').at(-1), { own: Number(own), children: Number(children) }];
      }),
    );
    assert.deepEqual([...costs.keys()].sort(), Object.keys(FILES));
    const [child, idle, worker] = Object.keys(FILES).map((name) => costs.get(name) ?? assert.fail(name));
    assert(child && idle && worker);
    assert(child.children >= 0.5, JSON.stringify(child));
    assert.equal(idle.children, 0);
    assert(worker.own >= 0.5, JSON.stringify(worker));
    assert.equal(worker.children, 0);
  });
});
