/** A PostgreSQL server that can be frozen with its backends, killed and restarted. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  type Postgres,
  type PostgresOptions,
  removePostgres,
  startPostgres,
} from '../../../services/quickstart/postgres.ts';
import { freeze, signal } from './freeze.ts';
import type { Member } from './member.ts';

export interface PostgresMember extends Omit<Member, 'tree' | 'stop'> {
  stop(): Promise<void>;
  /** As the service's role. */
  readonly url: string;
  /** As the superuser, in the service's database. */
  readonly adminUrl: string;
  remove(): Promise<void>;
}

/** Starts a server with a new cluster. */
export async function startPostgresMember(options: PostgresOptions): Promise<PostgresMember> {
  let running: Postgres = await startPostgres(options);
  const { url, home } = running;
  const adminUrl = new URL(running.adminUrl);
  adminUrl.pathname = new URL(url).pathname;
  /** Freezes the postmaster first, so that no backend is added while the others are frozen. */
  const freezeAll = async () => {
    const [line = ''] = (await readFile(`${home.data}/postmaster.pid`, 'utf8')).split('\n');
    const postmaster = Number(line);
    const thawPostmaster = freeze([postmaster]);
    const backends = await childrenOf(postmaster);
    const thawBackends = freeze(backends);
    const thaw = () => {
      thawBackends();
      thawPostmaster();
    };
    return { pids: [postmaster, ...backends], thaw };
  };
  return {
    name: 'database',
    url,
    adminUrl: adminUrl.href,
    freeze: async () => (await freezeAll()).thaw,
    /** Kills every backend as well: a remaining one would hold the shared memory, and no new server could start. */
    async kill() {
      const { pids, thaw } = await freezeAll();
      for (const pid of pids) signal(pid, 'SIGKILL');
      thaw();
      await running.exited;
    },
    async start() {
      running = await startPostgres(options);
    },
    stop: () => running.stop(),
    remove: () => removePostgres(home),
  };
}

/** Does something in a session of its own. The server may be killed under it. */
export async function withSession<T>(connectionString: string, act: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new pg.Client({ connectionString });
  session.on('error', () => undefined);
  await session.connect();
  try {
    return await act(session);
  } finally {
    await session.end();
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([pid, ppid]) => (ppid === parent && pid !== undefined ? [pid] : []));
}
