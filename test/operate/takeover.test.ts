import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { namedCode } from '../docs/code-blocks.ts';
import { isInstalled } from '../docs/is-installed.ts';
import { readCompose } from '../house/read-compose.ts';

/** Clusters by the name of their scope: the same silent primary, and reasons to leave its lease alone. */
const CLUSTERS = {
  ours: { standby: 'database-2', config: {} },
  another: { standby: 'database-3', config: {} },
  none: { standby: null, config: {} },
  paused: { standby: 'database-2', config: { pause: true } },
};

/**
 * The script of docker-compose.ha.yml with an etcd and a primary that are played here; `torture -- patroni` has real
 * ones.
 */
describe('takeover', () => {
  const scripts: ChildProcess[] = [];
  const servers: Server[] = [];
  const revoked: string[] = [];
  let folder: string | undefined;

  before(async function () {
    if (!isInstalled('openssl') || spawnSync('python3', ['-c', 'import yaml']).status !== 0) this.skip();
    folder = await mkdtemp(`${tmpdir()}/holdfast-takeover-`);
    const certificates = namedCode('high-availability.md')('certificates');
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', certificates], { cwd: folder });
    const { content = '' } = (await readCompose('docker-compose.ha.yml')).configs.takeover ?? {};
    await writeFile(`${folder}/takeover.py`, content);
  });
  afterEach(() => {
    for (const script of scripts.splice(0)) script.kill();
    for (const server of servers.splice(0)) server.close().closeAllConnections();
    revoked.length = 0;
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it("ends a silent primary's lease for its synchronous standby alone, and not while Patroni is paused", async () => {
    const asked = new Map<string, number>();
    let isPrimaryAlive = true;
    let answeredMs = 0;
    const primary = await serve((_, answer, scope) => {
      asked.set(scope, (asked.get(scope) ?? 0) + 1);
      // A frozen one accepts the connection, and never answers.
      if (!isPrimaryAlive) return;
      answer({});
      if (scope === 'ours') answeredMs = performance.now();
    });
    const etcd = await serveEtcd(primary);
    for (const scope of Object.keys(CLUSTERS)) await start(scope, etcd);
    const isHeardLong = (scope: string) => (asked.get(scope) ?? 0) > (SILENT_MS + 2_000) / EVERY_MS;
    while (!Object.keys(CLUSTERS).every(isHeardLong)) await delay(50);
    assert.deepEqual(revoked, [], 'while it answers');
    isPrimaryAlive = false;
    while (revoked.length === 0) await delay(10);
    assert(performance.now() - answeredMs >= SILENT_MS);
    await delay(2_000);
    assert.deepEqual(new Set(revoked), new Set(['lease of ours']));
  });

  it('does not take its own standstill for the silence of the primary', async () => {
    let script: ChildProcess | undefined;
    let asked = 0;
    const primary = await serve((_, answer) => {
      asked++;
      answer({});
    });
    const etcd = await serveEtcd(primary, () => {
      if (asked !== 2 || script === undefined) return;
      // It has just heard the primary, and waits for the answer of etcd.
      const { kill, pid } = { kill: process.kill, pid: script.pid as number };
      script = undefined;
      kill(pid, 'SIGSTOP');
      setTimeout(() => kill(pid, 'SIGCONT'), SILENT_MS + 500);
    });
    script = await start('ours', etcd);
    while (asked < 5) await delay(50);
    assert.deepEqual(revoked, []);
  });

  /** Returns the address of a server with the certificate of a node. */
  async function serve(hear: (request: Asked, answer: (body: object) => void, path: string) => void): Promise<string> {
    const read = (name: string) => readFile(`${folder}/certificates/${name}`);
    const tls = { cert: await read('node.pem'), key: await read('node.key') };
    const server = createServer(tls, async (request, response) => {
      const body = request.method === 'POST' ? ((await json(request)) as object) : {};
      hear(body, (answer) => response.end(JSON.stringify(answer)), request.url?.slice(1) ?? '');
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `localhost:${(server.address() as AddressInfo).port}`;
  }

  /** An etcd that tells of this primary; what is revoked is in `revoked`. */
  const serveEtcd = (primary: string, beforeKeys: () => void = () => undefined) =>
    serve((request, answer) => {
      if (request.ID === undefined) {
        beforeKeys();
        return answer({ kvs: keysOf(atob(request.key ?? '').split('/')[2] ?? '', primary) });
      }
      revoked.push(request.ID);
      answer({});
    });

  async function start(scope: string, etcd: string): Promise<ChildProcess> {
    const pem = (name: string) => `${folder}/certificates/${name}`;
    const tls = { cacert: pem('ca.pem'), cert: pem('node.pem'), key: pem('node.key') };
    await writeFile(`${folder}/${scope}.yml`, JSON.stringify({ scope, etcd3: { hosts: [etcd], ...tls } }));
    const env = { ...process.env, PATRONI_NAME: 'database-2' };
    const files = [`${folder}/takeover.py`, `${folder}/${scope}.yml`];
    const script = spawn('python3', files, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    scripts.push(script);
    return script;
  }
});

const SILENT_MS = 3_000;
/** Between two questions of the script, at least. */
const EVERY_MS = 500;

/** What the script asks: etcd for keys, or to revoke a lease; the primary for nothing in particular. */
interface Asked {
  readonly key?: string;
  readonly ID?: string;
}

/** What Patroni keeps in etcd, as etcd's JSON. */
function keysOf(scope: string, primary: string) {
  const { standby, config } = CLUSTERS[scope as keyof typeof CLUSTERS];
  const keys = {
    leader: 'database-1',
    sync: JSON.stringify({ leader: 'database-1', sync_standby: standby }),
    config: JSON.stringify(config),
    'members/database-1': JSON.stringify({ api_url: `https://${primary}/${scope}` }),
  };
  return Object.entries(keys).map(([key, value]) => {
    return { key: btoa(`/service/${scope}/${key}`), value: btoa(value), lease: `lease of ${scope}` };
  });
}
