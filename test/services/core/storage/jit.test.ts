/**
 * PostgreSQL compiles expensive plans by LLVM where that is installed; ours look expensive, because planner nodes are
 * disabled.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Query } from '../../../../services/core/storage/database.ts';
import { findWaiting, takeDue } from '../../../../services/core/storage/delivery/take-due.ts';
import { migrateDatabase } from '../../../../services/core/storage/migrate-database.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { freePort } from '../../../../services/quickstart/ports.ts';

/** Debian's; the embedded one has no LLVM. */
const HOME = '/usr/lib/postgresql/15';

describe('a PostgreSQL with LLVM', () => {
  let directory: string;
  let server: ChildProcess | undefined;
  let url: string;

  before(async function () {
    if (!(await stat(`${HOME}/lib/llvmjit.so`).catch(() => undefined))) return this.skip();
    directory = await mkdtemp(`${tmpdir()}/holdfast-jit-`);
    await chmod(directory, 0o711);
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
    if (nobody) await chown(directory, nobody.uid, nobody.gid);
    const options = { ...nobody, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
    const data = `${directory}/data`;
    await promisify(execFile)(`${HOME}/bin/initdb`, ['-D', data, '-U', 'holdfast', '-A', 'trust', '-N'], options);
    const port = await freePort();
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'off',
      jit: 'on',
      jit_above_cost: 0,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    server = spawn(`${HOME}/bin/postgres`, ['-D', data, ...flags], { ...options, stdio: 'ignore' });
    url = `postgresql://holdfast:unused@127.0.0.1:${port}/postgres`;
    while (!(await rowsOf('select 1').catch(() => undefined))) await delay(50);
    await migrateDatabase(url);
  });

  after(async () => {
    if (!server) return;
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
    await rm(directory, { recursive: true });
  });

  async function rowsOf(text: string): Promise<Explained[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Explained>(text)).rows;
    } finally {
      await client.end();
    }
  }

  it('compiles none of our statements', async () => {
    const database = await openPool({ databaseUrl: url, poolSize: 1 });
    const plans: object[] = [];
    const explained: Query = async ({ text }, values) => {
      const statement = { name: '', text: `explain (analyze, format json) ${text}` };
      plans.push(...(await database.query<Explained>(statement, values)).map((row) => row['QUERY PLAN'][0]));
      return [];
    };
    try {
      await findWaiting(explained, new Date());
      await takeDue(explained, [{ merchantId: 'm', endpointId: 'webhook', cap: 1, room: 1 }], new Date());
    } finally {
      await database.close();
    }
    assert.equal(plans.length, 2);
    for (const plan of plans) assert(!('JIT' in plan));
    const [other] = await rowsOf('explain (analyze, format json) select count(*) from delivery');
    assert(other && 'JIT' in other['QUERY PLAN'][0], 'it does compile those of others');
  });
});

interface Explained {
  readonly 'QUERY PLAN': readonly [object];
}
