import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePort } from '../../../services/quickstart/port.ts';
import { choosePorts, freeOuterPorts } from '../../../services/quickstart/ports.ts';
import { readSettings } from '../../../services/quickstart/settings.ts';

describe('choosePorts()', () => {
  const settings = async (environment: Record<string, string> = {}) =>
    readSettings({ ...(await freeOuterPorts()), ...environment });

  it('finds a free port for each inner process', async () => {
    const ports = await choosePorts(await settings());
    assert.equal(new Set(Object.values(ports)).size, 7);
  });

  it('refuses a port that is taken, naming its setting', async () => {
    const server = createServer().listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const taken = await settings({ MERCHANT_PORT: String(port) });
    await assert.rejects(choosePorts(taken), new RegExp(`^Error: MERCHANT_PORT: port ${port} is already taken`));
    server.close();
  });

  it('refuses one port for two processes', async () => {
    const port = String(await freePort());
    await assert.rejects(choosePorts(await settings({ PORT: port, CORE_PORT: port })), /CORE_PORT and PORT are both/);
  });
});
