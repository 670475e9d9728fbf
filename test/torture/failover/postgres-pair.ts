/**
 * A primary with a synchronous standby, and an orchestrator's part of a fail-over: promotes, redirects clients, builds
 * a new standby.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { freePort } from '../../../services/quickstart/ports.ts';
import type { PostgresOptions } from '../../../services/quickstart/postgres.ts';
import { choosePostgresHome, type PostgresHome } from '../../../services/quickstart/postgres-home.ts';
import { forSuite } from '../../suite.ts';
import { type Link, openLink } from '../deployment/link.ts';
import { type PostgresMember, startPostgresMember, withSession } from '../deployment/postgres-member.ts';
import { takeBaseBackup } from './base-backup.ts';

/** One of the two servers. */
export interface Node {
  readonly home: PostgresHome;
  readonly member: PostgresMember;
  /** As the superuser, past every link. */
  readonly adminUrl: string;
  readonly port: number;
  /** Between this server and clients that know both. */
  readonly server: Link;
  /** Between this server and the other's WAL receiver. */
  readonly wire: Link;
}

export type PostgresPair = Awaited<ReturnType<typeof startPostgresPair>>;

/** Opens a pair for the tests of a suite, in a directory of its own. */
export function usePostgresPair(): PostgresPair {
  return forSuite(async () => {
    const directory = await mkdtemp(`${tmpdir()}/holdfast-pair-`);
    await chmod(directory, 0o711);
    const pair = await startPostgresPair({
      directory: `${directory}/postgres`,
      logFile: `${directory}/postgres.log`,
      port: await freePort(),
      password: randomBytes(32).toString('base64url'),
      superuserPassword: randomBytes(32).toString('base64url'),
      fast: true,
    });
    return {
      ...pair,
      async close() {
        await pair.stop();
        await pair.remove();
        await rm(directory, { recursive: true });
      },
    };
  });
}

/** Counts the sessions of the service at a server. */
export async function sessionsAt(adminUrl: string): Promise<number> {
  const text = "select count(*)::int from pg_stat_activity where usename = 'holdfast'";
  return (await run<{ count: number }>(adminUrl, text))[0]?.count ?? assert.fail();
}

/** Starts both servers. `options.port` is the balancer's. */
export async function startPostgresPair(options: PostgresOptions) {
  const first = await openNode(options, 'a', (own) => startPostgresMember(own));
  let primary = first;
  const balancer = await openLink(options.port, first.port);
  await run(first.adminUrl, "alter system set wal_keep_size = '1GB'", 'select pg_reload_conf()');
  const standby = await openNode(options, 'b', async (own, home) => {
    await takeBaseBackup(backupOf(first, home, options));
    return startPostgresMember(own);
  });
  const pair: readonly Node[] = [first, standby];
  const other = (): Node => pair.find((node) => node !== primary) as Node;
  await untilSynchronous(first);

  const url = `postgresql://holdfast:${options.password}@127.0.0.1:${options.port}/holdfast`;
  const hosts = pair.map(({ server }) => `127.0.0.1:${server.port}`).join(',');
  const hostsUrl = `postgresql://holdfast:${options.password}@${hosts}/holdfast?target_session_attrs=read-write`;
  return {
    name: 'database',
    url,
    /** Names both servers. */
    hostsUrl,
    adminUrl: `postgresql://postgres:${options.superuserPassword}@127.0.0.1:${options.port}/holdfast`,
    // Both ways to follow a fail-over, in one deployment.
    urlOf: (process: string) => (process === 'core-2' ? url : hostsUrl),
    primary: () => primary,
    standby: other,
    /** Between clients that know one address and the primary: what HAProxy is in a deployment. */
    balancer,
    /** The number of the primary's sessions that wait for its standby. */
    waitingCommits: async () => {
      const [row] = await run<{ count: number }>(primary.adminUrl, WAITING);
      return row?.count ?? 0;
    },
    /** Promotes the standby, which then serves alone, and redirects the balancer's clients. */
    async promote() {
      const next = other();
      await run(
        next.adminUrl,
        "alter system set synchronous_standby_names = ''",
        'select pg_reload_conf()',
        'select pg_promote(true, 60)',
      );
      primary = next;
      balancer.turn(next.port);
    },
    /** Confirms commits without the standby. */
    async relax() {
      await run(primary.adminUrl, "alter system set synchronous_standby_names = ''", 'select pg_reload_conf()');
    },
    /** Replaces the stopped standby by a backup of the current primary. */
    async backUp() {
      await other().member.kill();
      await takeBaseBackup({ adminUrl: primary.adminUrl, from: primary.home, to: other().home });
    },
    /** Stops the primary and starts the backup in its place. */
    async restore() {
      await primary.member.kill();
      primary = other();
      await primary.member.start();
      balancer.turn(primary.port);
    },
    /** Makes the former primary, which must be dead, the standby, and waits until commits wait for it. */
    async rebuild() {
      const next = other();
      await takeBaseBackup(backupOf(primary, next.home, options));
      for (const link of [next.server, next.wire]) link.mend(true);
      await next.member.start();
      await untilSynchronous(primary);
    },
    freeze: () => primary.member.freeze(),
    kill: () => primary.member.kill(),
    start: () => primary.member.start(),
    async stop() {
      for (const node of [other(), primary]) await node.member.stop();
      for (const link of [balancer, ...pair.flatMap(({ server, wire }) => [server, wire])]) await link.close();
    },
    async remove() {
      for (const { member } of pair) await member.remove();
    },
  };
}

async function openNode(
  options: PostgresOptions,
  name: string,
  start: (own: PostgresOptions, home: PostgresHome) => Promise<PostgresMember>,
): Promise<Node> {
  const port = await freePort();
  const directory = `${options.directory}-${name}`;
  const logFile = options.logFile.replace(/\.log$/, `-${name}.log`);
  const home = await choosePostgresHome(directory);
  const member = await start({ ...options, port, directory, logFile }, home);
  const [server, wire] = [await openLink(await freePort(), port), await openLink(await freePort(), port)];
  return { home, member, adminUrl: member.adminUrl, port, server, wire };
}

function backupOf(from: Node, to: PostgresHome, { superuserPassword }: PostgresOptions) {
  const address = `host=127.0.0.1 port=${from.wire.port}`;
  const connection = `${address} user=postgres password=${superuserPassword} application_name=standby`;
  return { adminUrl: from.adminUrl, from: from.home, to, primaryConnection: connection };
}

/** From now on a commit is confirmed once both have it. */
async function untilSynchronous({ adminUrl }: Node): Promise<void> {
  await run(adminUrl, "alter system set synchronous_standby_names = 'standby'", 'select pg_reload_conf()');
  for (let waitedMs = 0; waitedMs < 30_000; waitedMs += 100) {
    const rows = await run(
      adminUrl,
      "select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'",
    );
    if (rows.length > 0) return;
    await delay(100);
  }
  assert.fail('the standby does not follow');
}

/** Runs statements one by one. Returns the last one's rows. */
export function run<Row extends pg.QueryResultRow>(url: string, ...texts: string[]): Promise<Row[]> {
  return withSession(url, async (session) => {
    let rows: Row[] = [];
    for (const text of texts) rows = (await session.query<Row>(text)).rows;
    return rows;
  });
}

const WAITING = "select count(*)::int from pg_stat_activity where wait_event = 'SyncRep'";
