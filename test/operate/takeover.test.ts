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
describe('takeover', function () {
  this.timeout(60_000);
  const scripts: ChildProcess[] = [];
  const servers: Server[] = [];
  const revoked: string[] = [];
  let folder: string | undefined;
  let isPrimaryAlive = true;

  before(async function () {
    if (!isInstalled('openssl') || spawnSync('python3', ['-c', 'import yaml']).status !== 0) this.skip();
    folder = await mkdtemp(`${tmpdir()}/holdfast-takeover-`);
    const certificates = namedCode('high-availability.md')('certificates');
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', certificates], { cwd: folder });
    const { content = '' } = (await readCompose('docker-compose.ha.yml')).configs.takeover ?? {};
    await writeFile(`${folder}/takeover.py`, content);
  });
  after(async () => {
    for (const script of scripts) script.kill();
    for (const server of servers) server.close().closeAllConnections();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it("ends a silent primary's lease for its synchronous standby alone, and not while Patroni is paused", async () => {
    const primary = await serve((_, answer) => {
      // A frozen one accepts the connection, and never answers.
      if (isPrimaryAlive) answer({});
    });
    const etcd = await serve((request, answer) => {
      if (request.ID === undefined)
        return answer({ kvs: keysOf(atob(request.key ?? '').split('/')[2] ?? '', primary) });
      revoked.push(request.ID);
      answer({});
    });
    for (const scope of Object.keys(CLUSTERS)) await start(scope, etcd);
    await delay(SILENT_MS + 2_000);
    assert.deepEqual(revoked, [], 'while it answers');
    isPrimaryAlive = false;
    const startedMs = performance.now();
    while (revoked.length === 0) await delay(50);
    assert(performance.now() - startedMs > SILENT_MS - 1_000);
    await delay(2_000);
    assert.deepEqual(revoked, ['lease of ours']);
  });

  /** Returns the address of a server with the certificate of a node. */
  async function serve(
    hear: (request: { readonly key?: string; readonly ID?: string }, answer: (body: object) => void) => void,
  ): Promise<string> {
    const read = (name: string) => readFile(`${folder}/certificates/${name}`);
    const tls = { cert: await read('node.pem'), key: await read('node.key') };
    const server = createServer(tls, async (request, response) => {
      const body = request.method === 'POST' ? ((await json(request)) as object) : {};
      hear(body, (answer) => response.end(JSON.stringify(answer)));
    });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `localhost:${(server.address() as AddressInfo).port}`;
  }

  async function start(scope: string, etcd: string): Promise<void> {
    const pem = (name: string) => `${folder}/certificates/${name}`;
    const tls = { cacert: pem('ca.pem'), cert: pem('node.pem'), key: pem('node.key') };
    await writeFile(`${folder}/${scope}.yml`, JSON.stringify({ scope, etcd3: { hosts: [etcd], ...tls } }));
    const env = { ...process.env, PATRONI_NAME: 'database-2' };
    const files = [`${folder}/takeover.py`, `${folder}/${scope}.yml`];
    scripts.push(spawn('python3', files, { env, stdio: ['ignore', 'ignore', 'inherit'] }));
  }
});

const SILENT_MS = 3_000;

/** What Patroni keeps in etcd, as etcd's JSON. */
function keysOf(scope: string, primary: string) {
  const { standby, config } = CLUSTERS[scope as keyof typeof CLUSTERS];
  const keys = {
    leader: 'database-1',
    sync: JSON.stringify({ leader: 'database-1', sync_standby: standby }),
    config: JSON.stringify(config),
    'members/database-1': JSON.stringify({ api_url: `https://${primary}/patroni` }),
  };
  return Object.entries(keys).map(([key, value]) => {
    return { key: btoa(`/service/${scope}/${key}`), value: btoa(value), lease: `lease of ${scope}` };
  });
}
