import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const FIXTURE = fileURLToPath(new URL('run-process-fixture.ts', import.meta.url));

describe('runProcess()', () => {
  const WAYS = {
    SIGTERM: (child: ChildProcess) => child.kill('SIGTERM'),
    SIGINT: (child: ChildProcess) => child.kill('SIGINT'),
    disconnect: (child: ChildProcess) => child.disconnect(),
  };
  const stopped = async (environment: Record<string, string>, stop: (child: ChildProcess) => void) => {
    const child = fork(FIXTURE, { env: { ...process.env, ...environment }, silent: true });
    const ended = once(child, 'exit');
    assert(child.stderr);
    const said = text(child.stderr);
    assert.deepEqual((await once(child, 'message'))[0], { ready: true });
    stop(child);
    const [code] = await ended;
    return { code, said: await said };
  };

  for (const [way, stop] of Object.entries(WAYS)) {
    it(`ends with 0 on ${way} when everything has closed`, async () => {
      assert.deepEqual(await stopped({}, stop), { code: 0, said: '' });
    });
  }

  it('ends all the same when something does not close, and says so', async () => {
    assert.deepEqual(await stopped({ STOPS: 'never' }, WAYS.SIGTERM), {
      code: 1,
      said: 'holdfast fixture: did not stop within 0.3 s\n',
    });
  });

  for (const STARTS of ['orphaned', 'orphaned and never ready']) {
    it(`ends when its parent has disconnected while it started (${STARTS})`, async () => {
      const child = fork(FIXTURE, { env: { ...process.env, STARTS }, silent: true });
      const ended = once(child, 'exit');
      await once(child, 'message');
      child.disconnect();
      assert.deepEqual(await ended, [0, null]);
    });
  }
});
