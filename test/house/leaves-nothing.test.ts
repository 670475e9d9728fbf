/** Parallel workers, and what the files that they run leave running. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

const FILES = {
  'clean.cjs': `it('is clean', async () => {
    const server = require('node:http').createServer((_, response) => response.end()).listen(0);
    await require('node:events').once(server, 'listening');
    await (await fetch('http://127.0.0.1:' + server.address().port)).text();
    await new Promise((closed) => server.close(closed));
    await require('node:events').once(require('node:child_process').spawn('true'), 'close');
  });`,
  'failed.cjs': `describe('a suite', () => {
    before(() => { require('node:net').createServer().listen(0); throw new Error('does not begin'); });
    it('never begins', () => {});
  });`,
  'server.cjs': `it('passes', () => void require('node:net').createServer().listen(0));`,
  'timer.cjs': `it('passes', () => void setInterval(() => {}, 1000));`,
  'process.cjs': `it('passes', () => {
    require('node:child_process').spawn('sleep', ['20'], { stdio: 'ignore' }).unref();
  });`,
};

/** Runs files by a mocha of their own, in parallel. */
function runMocha(folder: string, ...args: string[]) {
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout=0', '--parallel', '--jobs=4'];
  const required = ['--require', 'test/leaves-nothing.ts'];
  return spawn(process.execPath, [...mocha, ...required, ...args, `${folder}/*.cjs`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TEST_RUNNING: `${folder}/running`, TEST_ENDS_WITHIN_MS: '300' },
  });
}

describe('test/leaves-nothing.ts', () => {
  it('fails the files that leave something running, and no other, and names both', async () => {
    await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-leaves-`);
    await mkdir(`${folder.path}/running`);
    for (const [name, code] of Object.entries(FILES)) await writeFile(`${folder.path}/${name}`, code);
    const mocha = runMocha(folder.path);
    const [said, [code]] = await Promise.all([text(mocha.stdout), once(mocha, 'close')]);
    assert.equal(code, 4, said);
    assert.match(said, /4 passing/);
    for (const [file, left] of [
      ['server', '1 TCPServerWrap'],
      ['timer', '1 Timeout'],
      ['process', 'process \\d+: sleep 20'],
    ])
      assert.match(said, new RegExp(`${file}\\.cjs leaves this running\\n[^]*?${left}`));
    assert.match(said, /does not begin/);
    assert.doesNotMatch(said, /(clean|failed)\.cjs leaves/);
    assert.deepEqual(await readdir(`${folder.path}/running`), []);
  });

  it('lets .ci/count-reporter.ts name the test that hangs', async () => {
    await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-leaves-`);
    await mkdir(`${folder.path}/running`);
    await writeFile(`${folder.path}/clean.cjs`, FILES['clean.cjs']);
    await writeFile(`${folder.path}/hangs.cjs`, "describe('a suite', () => { it('hangs', (done) => void done); });");
    const reporter = ['--reporter', './.ci/count-reporter.ts'];
    const counts = `${folder.path}/counts`;
    const mocha = runMocha(folder.path, ...reporter, '--reporter-option', `counts=${counts}`);
    const said = text(mocha.stderr);
    const ended = once(mocha, 'close');
    mocha.stdout.setEncoding('utf8');
    let reported = '';
    mocha.stdout.on('data', (more) => {
      reported += more;
    });
    const isHanging = async () => {
      const names = await readdir(`${folder.path}/running`);
      // A worker removes its own when its file is over.
      const read = (name: string) => readFile(`${folder.path}/running/${name}`, 'utf8').catch(() => '');
      const running = (await Promise.all(names.map(read))).filter((text) => text !== '');
      return reported.includes('is clean') && running.length === 1 && running[0]?.includes('a suite hangs');
    };
    try {
      while (!(await isHanging())) await delay(20);
    } finally {
      mocha.kill();
    }
    assert.deepEqual(await ended, [1, null]);
    assert.match(await said, /^out of time during: .*hangs\.cjs: a suite hangs$/m);
    assert.equal(await readFile(counts, 'utf8'), '1 0 0\n');
  });
});
