/** Both clients wait alike, on everything that runs them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '../../../.ci/sources.ts';
import { makeCertificates } from '../../certificates.ts';
import { packClient } from '../pack-client.ts';
import { pythons, RUNTIMES } from '../runtimes.ts';
import { serveScript } from '../scripted-server.ts';
import { endless, waits } from './cases.ts';

const run = promisify(execFile);

describe('how a client waits', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(`${tmpdir()}/holdfast-waits-`);
    await mkdir(`${folder}/node_modules/holdfast-client`, { recursive: true });
    const into = ['-C', `${folder}/node_modules/holdfast-client`, '--strip-components', '1'];
    await run('tar', ['xzf', await packClient(folder), ...into]);
    await writeFile(`${folder}/package.json`, '{ "dependencies": { "holdfast-client": "1" } }');
    await copyFile(`${ROOT}test/client/waits/play.mjs`, `${folder}/play.mjs`);
  });
  after(() => rm(folder, { recursive: true }));

  for (const [name, find] of RUNTIMES) {
    it(`is the same on ${name}`, async () => compare(await find(), `${folder}/play.mjs`));
  }

  it('is the same in Python, of each version that is installed', async function () {
    const found = await pythons();
    if (found.length === 0) this.skip();
    await Promise.all(found.map((python) => compare([python], `${ROOT}test/client/waits/play.py`)));
  });

  /** Plays every case with a client. */
  async function compare([program = '', ...args]: readonly string[], player: string): Promise<void> {
    await using servers = new AsyncDisposableStack();
    const plain = servers.use(await serveScript([]));
    const cases = waits({ plainPort: Number(new URL(plain.baseUrl).port), securePort: await untrusted(servers) });
    const played = await Promise.all(
      cases.map(async ({ replies, timeoutMs, isRead }) => {
        if (typeof replies === 'function') return { baseUrl: await replies(), timeoutMs, isRead, asked: [] };
        const { baseUrl, asked } = servers.use(await serveScript(replies));
        return { baseUrl, timeoutMs, isRead, asked };
      }),
    );
    const calls = JSON.stringify(played.map(({ asked: _, ...call }) => call));
    const env = { ...process.env, PYTHONPATH: `${ROOT}client/python`, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run(program, [...args, player, calls], { env });
    const ends: readonly { outcome: string; requestId?: string; says?: string }[] = JSON.parse(stdout);
    for (const [index, { what, comesTo, tries, says = /.*/ }] of cases.entries()) {
      const { outcome, requestId, says: said = '' } = ends[index] ?? assert.fail(what);
      const end = outcome === 'unknown' && requestId ? `${outcome} ${requestId}` : outcome;
      // A busy machine may not hear in time that it cannot connect.
      if (tries === 0 && /within|time is over|timed out/.test(said)) continue;
      assert(comesTo.includes(end), `${what}: ${end}, not ${comesTo}: ${said}`);
      const count = played[index]?.asked.length ?? 0;
      const isRight = typeof tries === 'number' ? count === tries : count >= Number.parseInt(tries, 10);
      assert(isRight, `${what}: ${count} tries, not ${tries}`);
      assert.match(said ?? '', says, what);
    }
    // What is on its way between the two is read by nobody.
    assert(endless.mostBytes < 64 * 2 ** 20, `an answer of ${endless.mostBytes} bytes was read`);
  }
});

/** The port of a server whose certificate nobody trusts. */
async function untrusted(servers: AsyncDisposableStack): Promise<number> {
  const { server, close } = await makeCertificates();
  servers.defer(close);
  const [cert, key] = await Promise.all([readFile(server.cert), readFile(server.key)]);
  const listening = createServer({ cert, key }).listen(0, '127.0.0.1');
  servers.defer(async () => void listening.close());
  await once(listening, 'listening');
  return (listening.address() as AddressInfo).port;
}
