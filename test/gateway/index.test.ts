import assert from 'node:assert/strict';
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../services/quickstart/ports.ts';
import { FakeCore, OPERATOR_TOKEN, TOKEN } from './fake-core.ts';
import { API_KEY, MERCHANTS } from './stage.ts';

/** Compiled code is kept between processes (.mocharc.mjs). */
const { NODE_COMPILE_CACHE = '' } = process.env;

describe('the gateway process', () => {
  const core = new FakeCore();
  before(() => core.start());
  after(() => core.stop());

  const start = (environment: Record<string, string>): ChildProcess =>
    fork('gateway/index.ts', { env: { NODE_COMPILE_CACHE, ...environment }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const settings = () => ({ GATEWAY_TOKEN: TOKEN, CORE_URL: core.address, PORT: '0' });

  it('reports that it is ready, and stops on SIGTERM', async () => {
    const child = start(settings());
    assert.deepEqual((await once(child, 'message'))[0], { ready: true });
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  });

  it('exits with one clear line when a setting is wrong', async () => {
    const child = start({ ...settings(), PORT: 'http', GATEWAY_TOKEN: 'short-and-secret' });
    assert(child.stderr);
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.equal(code, 1);
    assert.match(said, /^holdfast gateway: settings: [^\n]*PORT: [^\n]*GATEWAY_TOKEN: [^\n]*\n$/);
    assert.doesNotMatch(said, /short-and-secret/);
  });

  describe('with GATEWAY_PROCESSES=2', () => {
    let child: ChildProcess;
    let origin: string;
    before(async () => {
      core.setMerchants(MERCHANTS);
      const port = String(await freePort());
      origin = `http://127.0.0.1:${port}`;
      child = start({ ...settings(), PORT: port, GATEWAY_PROCESSES: '2' });
      assert.deepEqual((await once(child, 'message'))[0], { ready: true });
    });
    after(() => child.kill('SIGKILL'));

    /** On a connection of its own, which either may accept. */
    const ask = (path: string, credential = API_KEY) =>
      fetch(origin + path, { headers: { authorization: `Bearer ${credential}`, connection: 'close' } });
    const requestsCounted = async () => {
      const metrics = await (await ask('/metrics', OPERATOR_TOKEN)).text();
      return Number(
        /^holdfast_http_requests_total\{method="GET",route="\/readyz",status="200"\} (\d+)$/m.exec(metrics)?.[1],
      );
    };
    const processes = async () => {
      const { stdout } = await promisify(execFile)('pgrep', ['-P', String(child.pid)]);
      return stdout.trim().split('\n').map(Number);
    };

    it('serves with each while the other is frozen, adds up their metrics, and restarts a killed one', async () => {
      const [one = 0, other = 0] = await processes();
      for (const frozen of [one, other]) {
        process.kill(frozen, 'SIGSTOP');
        for (let request = 0; request < 5; request++) assert.equal((await ask('/readyz')).status, 200);
        process.kill(frozen, 'SIGCONT');
      }
      assert.equal(await requestsCounted(), 10);
      process.kill(one, 'SIGSTOP');
      const counted = requestsCounted();
      await delay(500);
      process.kill(one, 'SIGKILL');
      assert.equal(await counted, 5, 'it ended without telling its own');
      while ((await processes()).length < 2) assert.equal(await requestsCounted(), 5, 'it starts again');
      assert((await processes()).includes(other));
      for (let request = 0; request < 10; request++) assert.equal((await ask('/readyz')).status, 200);
    });

    it('answers on SIGTERM what both have under way, then ends', async () => {
      const [entered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let waiting = 0;
      core.answers.set('listOperations', async () => {
        waiting += 1;
        if (waiting === 4) entered.resolve();
        await released.promise;
        return { operations: [] };
      });
      const asked = Array.from({ length: 4 }, () => ask('/operations'));
      await entered.promise;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      while ((await ask('/readyz').catch(() => undefined)) !== undefined) await delay(50);
      released.resolve();
      assert.deepEqual(
        (await Promise.all(asked)).map(({ status }) => status),
        [200, 200, 200, 200],
      );
      assert.deepEqual(await exited, [0, null]);
    });

    it('ends when its port is taken', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const second = start({ ...settings(), PORT: String(port), GATEWAY_PROCESSES: '2' });
      assert.deepEqual(await once(second, 'exit'), [1, null]);
      taken.close();
    });
  });
});
