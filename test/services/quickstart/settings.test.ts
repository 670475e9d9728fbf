import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { openDataDir } from '../../../services/quickstart/data-dir.ts';
import { freePort } from '../../../services/quickstart/port.ts';
import { choosePorts } from '../../../services/quickstart/ports.ts';
import { keepSecrets } from '../../../services/quickstart/secrets.ts';
import { readSettings } from '../../../services/quickstart/settings.ts';

describe('readSettings() of the launcher', () => {
  it('has a default for each but the database and Redis', () => {
    const settings = readSettings({});
    assert.deepEqual([settings.PORT, settings.CORE_PORT, settings.CONNECT_PORT], [8080, 50_051, 50_052]);
    assert.equal(settings.DATA_DIR, `${process.cwd()}/.data`);
    assert.deepEqual([settings.DATABASE_URL, settings.REDIS_URL], [undefined, undefined]);
  });

  it('takes an empty one as unset, for the processes too', () => {
    const settings = readSettings({ PORT: '', DATA_DIR: '', DATABASE_URL: '', REDIS_URL: '', LOG_LEVEL: '' });
    assert.deepEqual(settings, readSettings({}));
  });

  for (const [name, value] of [
    ['PORT', 'http'],
    ['CORE_PORT', '70000'],
    ['DATABASE_URL', 'mysql://root:secret-word@db/holdfast'],
    ['REDIS_URL', 'secret-word'],
  ] as const) {
    it(`names ${name} when it is wrong, and never its value`, () => {
      assert.throws(
        () => readSettings({ [name]: value }),
        ({ message }: Error) => {
          return message.startsWith(`${name}: `) && !message.includes(value) && !message.includes('\n');
        },
      );
    });
  }
});

describe('choosePorts()', () => {
  const settings = async (environment: Record<string, string> = {}) => {
    const ports = { PORT: await freePort(), CORE_PORT: await freePort(), CONNECT_PORT: await freePort() };
    return readSettings({ ...texts(ports), ...environment });
  };

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

describe('DATA_DIR', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(`${tmpdir()}/holdfast-data-`);
  });

  afterEach(() => rm(directory, { recursive: true }));

  it('is for one launcher at a time', async () => {
    const first = await openDataDir(directory);
    await assert.rejects(openDataDir(directory), /another launcher works in .*; stop it, or set DATA_DIR/);
    first.close();
    (await openDataDir(directory)).close();
  });

  it('keeps its secrets, for their owner only', async () => {
    const secrets = await keepSecrets(directory);
    assert.equal(new Set(Object.values(secrets)).size, Object.keys(secrets).length);
    for (const secret of Object.values(secrets)) assert(secret.length >= 43);
    assert.deepEqual(await keepSecrets(directory), secrets);
    assert.equal((await stat(`${directory}/secrets.json`)).mode & 0o777, 0o600);
  });

  it('is not given new secrets when the old ones are damaged', async () => {
    await writeFile(`${directory}/secrets.json`, '{"gatewayToken":"short"}');
    await assert.rejects(keepSecrets(directory), /secrets\.json is damaged: .*gatewayToken/);
  });
});

function texts(values: Record<string, number>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}
