import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { FakeCore, TOKEN } from './fake-core.ts';

/** Compiled code is kept between processes (.mocharc.mjs). */
const { NODE_COMPILE_CACHE = '' } = process.env;

describe('the gateway process', function () {
  // Each test starts a process, which takes seconds on a busy machine.
  this.timeout(30_000);
  const core = new FakeCore();
  before(() => core.start());
  after(() => core.stop());

  const start = (environment: Record<string, string>): ChildProcess =>
    fork('gateway/index.ts', { env: { NODE_COMPILE_CACHE, ...environment }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const settings = () => ({ GATEWAY_TOKEN: TOKEN, CORE_URL: core.address, PORT: '0' });

  for (const [name, stop] of [
    ['disconnect', (child: ChildProcess) => child.disconnect()],
    ['SIGTERM', (child: ChildProcess) => child.kill('SIGTERM')],
    ['SIGINT', (child: ChildProcess) => child.kill('SIGINT')],
  ] as const) {
    it(`reports that it is ready, and stops on ${name}`, async () => {
      const child = start(settings());
      assert.deepEqual((await once(child, 'message'))[0], { ready: true });
      const exited = once(child, 'exit');
      stop(child);
      assert.deepEqual(await exited, [0, null]);
    });
  }

  it('exits with one clear line when a setting is wrong', async () => {
    const child = start({ ...settings(), PORT: 'http', GATEWAY_TOKEN: 'short-and-secret' });
    assert(child.stderr);
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.equal(code, 1);
    assert.match(said, /^holdfast gateway: settings: [^\n]*PORT: [^\n]*GATEWAY_TOKEN: [^\n]*\n$/);
    assert.doesNotMatch(said, /short-and-secret/);
  });
});
