import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { freePort } from '../../../services/quickstart/ports.ts';

const SHIPPED = 'services/sandbox/conformance.json';

describe('the exit code of the conformance kit', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(`${tmpdir()}/holdfast-conformance-`);
  });
  after(() => rm(directory, { recursive: true }));

  /** Cases that cannot be judged: exit code 2, no table, and one line that says why. */
  async function isNotJudged(why: RegExp, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr.split('\n')[0] ?? '', why);
    return stderr;
  }

  it('is 2 when options are missing or wrong, and prints the usage', async () => {
    for (const args of [[], ['--processor', '127.0.0.1:1'], ['--no-such-option']]) {
      assert.match(await isNotJudged(/^holdfast conformance: /, ...args), /--processor/);
    }
  });

  it('is 2 when the profile cannot be read or parsed', async () => {
    const wrong = `${directory}/wrong.json`;
    await writeFile(wrong, '{"tokens": 1}');
    for (const profile of [`${directory}/absent.json`, wrong]) {
      await isNotJudged(
        /^holdfast conformance: .*(absent|wrong)\.json/,
        '--processor',
        '127.0.0.1:1',
        '--profile',
        profile,
      );
    }
  });

  it('is 2 when the address does not answer', async () => {
    const { process: _, ...profile } = JSON.parse(await readFile(SHIPPED, 'utf8'));
    const file = `${directory}/running-already.json`;
    await writeFile(file, JSON.stringify(profile));
    const address = `127.0.0.1:${await freePort()}`;
    const tokens = ['--credential', 'a-credential-of-32-characters-or-more'];
    await isNotJudged(/^holdfast conformance: \S.*/, '--processor', address, '--profile', file, ...tokens);
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`is 2 after ${signal}, which ends the adapter, too`, async () => {
      const home = createServer().listen(0, '127.0.0.1');
      await once(home, 'listening');
      const called = once(home, 'connection');
      const adapter = `require('node:net').connect(${(home.address() as AddressInfo).port}, '127.0.0.1')`;
      const profile = JSON.parse(await readFile(SHIPPED, 'utf8'));
      profile.process.command = [process.execPath, '-e', adapter];
      const file = `${directory}/${signal}.json`;
      await writeFile(file, JSON.stringify(profile));
      const args = ['--processor', `127.0.0.1:${await freePort()}`, '--profile', file, '--events', '127.0.0.1:0'];
      const kit = spawn(process.execPath, ['services/conformance/index.ts', ...args], { stdio: 'ignore' });
      const ended = once(kit, 'exit');
      const [connection] = (await called) as [Socket];
      const closed = once(connection.on('error', () => undefined).resume(), 'close');
      kit.kill(signal);
      assert.deepEqual(await ended, [2, null]);
      await closed;
      home.close();
    });
  }
});

function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['services/conformance/index.ts', ...args], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}
