import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';

describe('.ci/count-reporter.ts', () => {
  it('names the test that runs when its time is over, and counts those before it, with what failed', async () => {
    const directory = await mkdtemp(`${tmpdir()}/holdfast-reporter-`);
    try {
      await writeFile(
        `${directory}/tests.cjs`,
        `describe('a suite', () => {
          it('passes', () => {});
          it('fails', () => { throw new Error('as planned'); });
          it('hangs', (done) => { process.send('hanging'); });
        });`,
      );
      const reporter = ['--reporter', './.ci/count-reporter.ts', '--reporter-option', `counts=${directory}/counts`];
      const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout=0', ...reporter];
      const tests = spawn(process.execPath, [...mocha, `${directory}/tests.cjs`], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        env: { ...process.env, TEST_RUNNING: '' },
      });
      const said = text(tests.stderr ?? assert.fail());
      const ended = once(tests, 'exit');
      assert.deepEqual((await once(tests, 'message'))[0], 'hanging');
      tests.kill();
      assert.deepEqual(await ended, [1, null]);
      assert.match(await said, /^out of time during: a suite hangs$/m);
      assert.equal(await readFile(`${directory}/counts`, 'utf8'), '1 1 0\n');
      assert.match(
        await readFile(`${directory}/counts.failed`, 'utf8'),
        /^failed: a suite fails \(.*tests\.cjs\)\nError: as planned/,
      );
      assert.match(await readFile(`${directory}/counts.files`, 'utf8'), /^.*tests\.cjs\n$/);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
