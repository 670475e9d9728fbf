import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { removeDataDir } from '../../services/quickstart/data-dir.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { openShop } from '../../services/quickstart/shop.ts';
import { createDatabase } from '../database.ts';
import { type Launched, lastProcessesOf, launch, launchSettings, processesOf, quickstartFile } from './launched.ts';

const ORDER = { tokenId: 'tok_sandbox_ok', amount: 1000, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

describe('npm start', () => {
  let dataDir: string;
  let settings: Record<string, string>;
  let launched: Launched;
  let requestId: string;

  before(async function () {
    // Processes are found in /proc.
    if (process.platform !== 'linux') this.skip();
    dataDir = await mkdtemp(`${tmpdir()}/holdfast-launcher-`);
    settings = await launchSettings(dataDir);
  });

  after(async () => {
    if (dataDir === undefined) return;
    for (const { pid } of await processesOf(dataDir)) process.kill(pid, 'SIGKILL');
    await removeDataDir(dataDir);
  });

  const start = async () => {
    launched = launch(settings);
    await launched.printed('Ctrl-C stops everything');
    return quickstartFile(dataDir);
  };

  it('places a first hold quickly, and describes the service to other programs', async () => {
    const file = await start();
    assert.equal((await stat(`${dataDir}/quickstart.json`)).mode & 0o777, 0o600);
    assert.equal(file.baseUrl, `http://127.0.0.1:${settings.PORT}`);
    const shop = openShop(file);
    const { status, body } = await shop.post('/preauthorization', ORDER);
    assert.equal(status, 201);
    requestId = body.requestId;
    await shop.notified(requestId, 'authorized');
  });

  it('says at once what it starts, and one line for each step', () => {
    const lines = launched.output().split('\n');
    assert.match(lines[0] ?? '', /^Holdfast starts PostgreSQL, /);
    const steps = ['database is ready', 'database is migrated'];
    for (const name of ['core', 'worker', 'gateway', 'sandbox', 'merchant']) steps.push(`${name} is ready`);
    for (const step of steps) assert.equal(lines.filter((line) => line === step).length, 1, step);
  });

  it('serves the metrics of its processes for their own token and for the operator token', async () => {
    const { baseUrl, metricsUrls, metricsToken, operatorToken } = await quickstartFile(dataDir);
    for (const url of [`${baseUrl}/metrics`, ...Object.values(metricsUrls)]) {
      for (const token of [metricsToken, operatorToken]) {
        const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
        assert.match(await answer.text(), /^holdfast_/m, url);
      }
    }
    const asOperator = { headers: { authorization: `Bearer ${metricsToken}` } };
    assert.equal((await fetch(`${baseUrl}/operator/overview`, asOperator)).status, 401);
  });

  it('prints commands that work, and no secret', async () => {
    const { apiKey, signingSecret, operatorToken, metricsToken } = await quickstartFile(dataDir);
    for (const secret of [apiKey, signingSecret, operatorToken, metricsToken])
      assert(!launched.output().includes(secret));
    const config = await readFile(`${dataDir}/demo.curl`, 'utf8');
    assert(config.includes(apiKey));
    const [command] = /curl -K \S+ http:\S+\/preauthorization -d '\{"tokenId".*/.exec(launched.output()) ?? [];
    assert(command !== undefined);
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    assert.match(JSON.parse(stdout).preauthorizationId, /^pre_/);
    const [login] = /grep operatorToken \S+/.exec(launched.output()) ?? [];
    assert(login !== undefined);
    assert((await promisify(execFile)('sh', ['-c', login])).stdout.includes(operatorToken));
  });

  it('serves the console at the address it prints', async () => {
    const { consoleUrl } = await quickstartFile(dataDir);
    assert(launched.output().includes(consoleUrl));
    assert.match(await (await fetch(consoleUrl)).text(), /<title>Holdfast console<\/title>/);
  });

  it('refuses a second launcher on its folder', async () => {
    const second = launch({ ...(await launchSettings(dataDir)) });
    assert.equal(await second.ended, 1);
    assert.match(second.output(), /\nholdfast: DATA_DIR: another launcher works in .*\n$/);
    await access(`${dataDir}/quickstart.json`);
  });

  it('reports a process that dies, and restarts it', async () => {
    for (const name of ['core', 'postgres']) {
      process.kill(await pidOf(name), 'SIGKILL');
      await launched.printed(`${name} ended (killed by SIGKILL); starting it again in 0.25 s`);
      await launched.printed(`${name} runs again`);
    }
    const file = await quickstartFile(dataDir);
    await served(async () => (await openShop(file).get(`/preauthorization/${requestId}`)).status);
  });

  it('leaves no process behind when it is killed, and starts again with the stored data', async () => {
    launched.process.kill('SIGKILL');
    await launched.ended;
    assert.deepEqual(await lastProcessesOf(dataDir), []);
    const { body } = await openShop(await start()).get(`/preauthorization/${requestId}`);
    assert.deepEqual([body.requestId, body.amount], [requestId, 1000]);
  });

  it('starts again after everything was killed', async () => {
    const { apiKey } = await quickstartFile(dataDir);
    launched.process.kill('SIGKILL');
    for (const { pid } of await processesOf(dataDir)) killed(pid);
    const file = await start();
    assert.equal(file.apiKey, apiKey);
    const { body } = await openShop(file).get(`/preauthorization/${requestId}`);
    assert.equal(body.requestId, requestId);
    assert.equal((await openShop(file).post('/preauthorization', ORDER)).status, 201);
  });

  it('stops everything on Ctrl-C, and exits with 0', async () => {
    assert(launched.process.pid !== undefined);
    // A terminal signals the whole process group.
    process.kill(-launched.process.pid, 'SIGINT');
    assert.equal(await launched.ended, 0);
    assert.deepEqual(await processesOf(dataDir), []);
    await assert.rejects(access(`${dataDir}/quickstart.json`), { code: 'ENOENT' });
    assert.doesNotMatch(launched.output(), /ended \(/);
  });

  it('stops everything when the npm that runs it is ended', async () => {
    launched = launch(settings, ['npm', 'start']);
    await launched.printed('Ctrl-C stops everything');
    launched.process.kill('SIGTERM');
    await once(launched.process, 'exit');
    assert.deepEqual(await lastProcessesOf(dataDir), []);
    assert.match(launched.output(), /holdfast: stopped/);
  });

  const pidOf = async (name: string) => {
    const file = name === 'postgres' ? await postmasterPid() : await readFile(`${dataDir}/run/${name}.pid`, 'utf8');
    return Number(file);
  };

  const postmasterPid = async () => {
    const servers = await processesOf(dataDir);
    return String(servers.find(({ commandLine }) => /\/bin\/postgres\0-D/.test(commandLine))?.pid);
  };
});

describe('npm start, when it fails', () => {
  let dataDir: string;
  let settings: Record<string, string>;

  beforeEach(async function () {
    if (process.platform !== 'linux') this.skip();
    dataDir = await mkdtemp(`${tmpdir()}/holdfast-launcher-`);
    settings = await launchSettings(dataDir);
  });

  afterEach(() => removeDataDir(dataDir));

  const refused = async (environment: Record<string, string>, line: RegExp) => {
    const launched = launch({ ...settings, ...environment });
    assert.equal(await launched.ended, 1);
    const lines = launched.output().trimEnd().split('\n');
    assert.match(lines.at(0) ?? '', /^Holdfast starts PostgreSQL, /);
    assert.match(lines.at(-1) ?? '', line);
    assert.deepEqual(await processesOf(dataDir), []);
  };

  it('reports a port that is in use', async () => {
    const server = createServer().listen(Number(settings.PORT), '127.0.0.1');
    await once(server, 'listening');
    await refused({}, /^holdfast: PORT: port \d+ is already taken/);
    server.close();
  });

  it('reports that the database is unreachable, without its password', async () => {
    const url = `postgresql://holdfast:secret-word@127.0.0.1:${await freePort()}/holdfast`;
    await refused(
      { DATABASE_URL: url },
      /^holdfast: DATABASE_URL: cannot use the database 127[^ ]*: nothing listens there \(ECONNREFUSED\)$/m,
    );
  });

  it('names the setting that is wrong', () => refused({ CORE_PORT: 'abc' }, /^holdfast: settings: CORE_PORT: /));

  it('stops what it started when it cannot write its file', async () => {
    const database = await createDatabase();
    await mkdir(`${dataDir}/demo.curl`);
    const launched = launch({ ...settings, DATABASE_URL: database.url });
    assert.equal(await launched.ended, 1);
    assert.match(launched.output(), /^holdfast: EISDIR: .*demo\.curl'$/m);
    assert.deepEqual(await processesOf(dataDir), []);
    await database.drop();
  });

  it('names the wrong setting of a process, and stops the others', async () => {
    const database = await createDatabase();
    const environment = { DATABASE_URL: database.url, REST_RATE_PER_SECOND: 'many' };
    await refused(environment, /^holdfast: gateway did not start: .*REST_RATE_PER_SECOND/);
    await database.drop();
  });
});

/** Polls until the answer is 200, for 20 s at least: a restarted process needs a moment. */
async function served(ask: () => Promise<number>): Promise<void> {
  for (let tries = 0; (await ask()) !== 200; tries++) {
    assert(tries < 200, 'still not served');
    await delay(100);
  }
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
