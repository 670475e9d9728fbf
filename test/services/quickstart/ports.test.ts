import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { choosePorts, freeOuterPorts, freePort, INNER, keepPorts } from '../../../services/quickstart/ports.ts';
import { readSettings } from '../../../services/quickstart/settings.ts';

describe('choosePorts()', () => {
  const settings = async (environment: Record<string, string> = {}) =>
    readSettings({ ...(await freeOuterPorts()), ...environment });

  it('finds a free port for each inner process', async () => {
    const ports = await choosePorts(await settings());
    assert.equal(new Set(Object.values(ports)).size, 12);
  });

  it('takes each port that is set, also when another one was handed out before', async () => {
    const set: Record<string, string> = {};
    for (const name of INNER) set[name] = String(await freePort());
    const ports = await choosePorts(await settings(set), { STRIPE_WEBHOOK_PORT: await freePort() });
    for (const name of INNER) assert.equal(String(ports[name]), set[name], name);
  });

  it('rejects a port that is in use, naming its setting', async () => {
    const server = createServer().listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const taken = await settings({ MERCHANT_PORT: String(port) });
    await assert.rejects(choosePorts(taken), new RegExp(`^Error: MERCHANT_PORT: port ${port} is already taken`));
    server.close();
  });

  it('rejects one port for two processes', async () => {
    const port = String(await freePort());
    await assert.rejects(choosePorts(await settings({ PORT: port, CORE_PORT: port })), /CORE_PORT and PORT are both/);
  });
});

describe('freePort()', () => {
  it('keeps to the share of its process', async () => {
    const before = process.env.PORT_SHARE;
    process.env.PORT_SHARE = '3/16';
    try {
      for (let index = 0; index < 50; index++) {
        const port = await freePort();
        assert(port >= 20_000 + 3 * 625 && port < 20_000 + 4 * 625, String(port));
      }
    } finally {
      process.env.PORT_SHARE = before;
    }
  });
});

describe('keepPorts()', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(`${tmpdir()}/holdfast-ports-`);
  });
  after(() => rm(directory, { recursive: true }));
  const settings = async () => readSettings(await freeOuterPorts());

  it('returns the same inner ports again, except those in use by now', async () => {
    const first = await keepPorts(await settings(), directory);
    const again = await keepPorts(await settings(), directory);
    for (const name of ['DATABASE_PORT', 'SANDBOX_PORT', 'CHECKOUT_PORT', 'MERCHANT_PORT'] as const) {
      assert.equal(again[name], first[name], name);
    }
    const server = createServer().listen(first.CHECKOUT_PORT, '127.0.0.1');
    await once(server, 'listening');
    const third = await keepPorts(await settings(), directory);
    server.close();
    assert.notEqual(third.CHECKOUT_PORT, first.CHECKOUT_PORT);
    assert.equal(third.MERCHANT_PORT, first.MERCHANT_PORT);
  });

  it('finds free ports when its file is damaged', async () => {
    await writeFile(`${directory}/ports.json`, '{"MERCHANT_PORT": "many"}');
    assert.equal(new Set(Object.values(await keepPorts(await settings(), directory))).size, 12);
  });
});
