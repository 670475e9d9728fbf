import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../../../platform/settings.ts';
import { SANDBOX_SETTINGS } from '../../../services/sandbox/settings.ts';

const REQUIRED = { PROCESSOR_TOKEN: 'p'.repeat(32), PROCESSOR_CREDENTIAL: 'c'.repeat(32) };
const INDEX = fileURLToPath(new URL('../../../services/sandbox/index.ts', import.meta.url));

describe('readSettings()', () => {
  it('has defaults', () => {
    const settings = readSettings(SANDBOX_SETTINGS, REQUIRED);
    assert.equal(settings.SANDBOX_PORT, 50_061);
    assert.equal(settings.CHECKOUT_PORT, 8_090);
    assert.equal(settings.CORE_URL, '127.0.0.1:50051');
    assert.equal(settings.SANDBOX_LEDGER, '.data/sandbox.sqlite');
    assert.equal(settings.CHECKOUT_BASE_URL, undefined);
  });

  it('names what is missing or wrong, without its value', () => {
    const wrong: Array<[string, string | undefined]> = [
      ['PROCESSOR_TOKEN', undefined],
      ['PROCESSOR_CREDENTIAL', 'too-short'],
      ['SANDBOX_PORT', 'many'],
      ['CHECKOUT_PORT', '65536'],
      ['CHECKOUT_BASE_URL', 'ftp://shop.example'],
      ['LOG_LEVEL', 'loud'],
    ];
    for (const [name, value] of wrong) {
      assert.throws(
        () => readSettings(SANDBOX_SETTINGS, { ...REQUIRED, [name]: value }),
        (error: Error) =>
          new RegExp(`^settings: ${name}(: | is not set)`).test(error.message) &&
          !error.message.includes(value ?? 'undefined '),
        name,
      );
    }
  });
});

describe('services/sandbox/index.ts', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-sandbox-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  function start(env: Record<string, string>) {
    const { NODE_COMPILE_CACHE: cache } = process.env;
    const cached = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
    const ports = { SANDBOX_PORT: '0', CHECKOUT_PORT: '0', SANDBOX_LEDGER: join(directory, 'ledger.sqlite') };
    return spawn(process.execPath, [INDEX], {
      env: { ...cached, ...ports, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
  }

  it('tells its parent when it is ready, and stops on SIGTERM and when its parent is gone', async () => {
    for (const stop of ['SIGTERM', 'disconnect'] as const) {
      const child = start(REQUIRED);
      assert.deepEqual((await once(child, 'message'))[0], { ready: true });
      if (stop === 'SIGTERM') child.kill(stop);
      else child.disconnect();
      assert.deepEqual(await once(child, 'exit'), [0, null], stop);
    }
  });

  it('exits with one line that names the setting, or the port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const cases: Array<[Record<string, string>, RegExp]> = [
      [{}, /^holdfast sandbox: settings: PROCESSOR_TOKEN is not set; PROCESSOR_CREDENTIAL is not set\n$/],
      [
        { ...REQUIRED, CHECKOUT_PORT: String(port) },
        new RegExp(`^holdfast sandbox: CHECKOUT_PORT: .*${port} .EADDRINUSE.\n$`),
      ],
      [{ ...REQUIRED, SANDBOX_PORT: String(port) }, new RegExp(`^holdfast sandbox: SANDBOX_PORT: .*${port}\n$`)],
    ];
    for (const [env, line] of cases) {
      const child = start(env);
      let stderr = '';
      child.stderr?.on('data', (chunk) => {
        stderr += chunk;
      });
      const [code] = await once(child, 'close');
      assert.equal(code, 1);
      assert.match(stderr, line);
    }
    taken.close();
  });
});
