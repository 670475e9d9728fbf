import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connectionOptions, DatabaseClient, StandbyError } from '../../platform/database-client.ts';
import { openLog } from '../../platform/log.ts';
import { isDatabaseAway, isResultLost } from '../../services/core/storage/database-errors.ts';
import { listen } from '../../services/core/storage/listen-to-commits.ts';
import { openDatabase } from '../../services/core/storage/open-database.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { openTcpServer } from '../tcp-server.ts';
import { run, sessionsAt, usePostgresPair } from '../torture/failover/postgres-pair.ts';

describe('DatabaseClient, ended while it connects', () => {
  it('rejects, so that who closes it does not wait for ever', async () => {
    await using silent = await openTcpServer();
    const client = new DatabaseClient(connectionOptions(`postgresql://u:p@127.0.0.1:${silent.port}/d?sslmode=disable`));
    const rejected = assert.rejects(client.connect(), isResultLost);
    await silent.connection();
    await client.end();
    await rejected;
  });
});

describe('DatabaseClient', () => {
  const pair = usePostgresPair();
  let standbyUrl: string;
  const log = openLog('test', 'silent');

  before(async () => {
    standbyUrl = urlAt(pair.standby().port);
    await asAdmin('create table kept (id int primary key)', 'grant all on kept to holdfast');
  });

  const urlAt = (port: number) => {
    const url = new URL(pair.url);
    url.port = String(port);
    return url.href;
  };
  const asAdmin = <Row extends pg.QueryResultRow>(...texts: string[]) => run<Row>(pair.adminUrl, ...texts);

  it('rejects a standby, and leaves no connection there', async () => {
    const client = new DatabaseClient(connectionOptions(standbyUrl));
    await assert.rejects(client.connect(), (error) => error instanceof StandbyError && isDatabaseAway(error));
    await assert.rejects(openDatabase({ databaseUrl: standbyUrl, poolSize: 3 }), /the database is a standby/);
    const listener = listen({
      databaseUrl: standbyUrl,
      channels: ['any'],
      log,
      heard: () => undefined,
      connected: () => undefined,
    });
    // It tries again and again. A server needs a moment to end a session whose connection was closed.
    const { adminUrl } = pair.standby();
    await delay(3_000);
    while ((await sessionsAt(adminUrl)) > 1) await delay(20);
    await listener.close();
    while ((await sessionsAt(adminUrl)) > 0) await delay(20);
  });

  it('says why each server is not the primary', async () => {
    const closed = await freePort();
    const url = pair.url.replace(/@[^/]+/, `@127.0.0.1:${closed},127.0.0.1:${pair.standby().port}`);
    const standby = `127.0.0.1:${pair.standby().port}`;
    const message = `no server is the primary: 127.0.0.1:${closed} nothing listens there (ECONNREFUSED), ${standby} is a standby`;
    await assert.rejects(new DatabaseClient(connectionOptions(url)).connect(), { message });
  });

  it('closes with a statement that timed out, so that a pool does not reuse it', async () => {
    const pool = new pg.Pool({ ...connectionOptions(pair.url), query_timeout: 2_000, max: 1 });
    try {
      const client = await pool.connect();
      pair.balancer.stall();
      await assert.rejects(client.query('select 1'), (error) => isResultLost(error) && isDatabaseAway(error));
      await assert.rejects(client.query('rollback'), isDatabaseAway);
      client.release();
      assert.equal(pool.totalCount, 0);
      pair.balancer.mend(true);
      assert.equal((await pool.query('select 1 as one')).rows[0].one, 1);
    } finally {
      pair.balancer.mend();
      await pool.end();
    }
  });

  it('does not report a commit as done that stopped waiting for the standby', async () => {
    const database = await openDatabase({ databaseUrl: pair.url, poolSize: 2 });
    try {
      pair.primary().wire.cut();
      const insert = (id: number) => database.query({ name: 'keep', text: 'insert into kept values ($1)' }, [id]);
      const cancelled = assert.rejects(insert(1), isResultLost);
      while ((await pair.waitingCommits()) === 0) await delay(20);
      await asAdmin("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
      await cancelled;
      const terminated = assert.rejects(insert(2), isResultLost);
      while ((await pair.waitingCommits()) === 0) await delay(20);
      await asAdmin("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
      await terminated;
    } finally {
      pair.primary().wire.mend();
      await database.close();
    }
  });

  it('listens and writes at the new primary after an unannounced fail-over', async () => {
    const database = await openDatabase({ databaseUrl: pair.hostsUrl, poolSize: 2 });
    let heard = Promise.withResolvers<void>();
    let listening = Promise.withResolvers<void>();
    const listener = listen({
      databaseUrl: pair.hostsUrl,
      channels: ['news'],
      log,
      heard: () => heard.resolve(),
      connected: () => listening.resolve(),
    });
    const notify = () => database.query({ name: 'notify', text: 'notify news' }, []);
    try {
      await listening.promise;
      await notify();
      await heard.promise;
      heard = Promise.withResolvers();
      listening = Promise.withResolvers();
      const { server, wire, member } = pair.primary();
      for (const link of [server, wire]) link.stall();
      await pair.promote();
      await assert.rejects(notify(), isDatabaseAway);
      await listening.promise;
      await notify();
      await heard.promise;
      // The former primary comes back, still believing that it is the primary.
      for (const link of [server, wire]) link.mend(true);
      for (let times = 0; times < 3; times++) {
        const client = new DatabaseClient(connectionOptions(pair.hostsUrl));
        await client.connect();
        assert.equal((await client.query('select inet_server_port() as port')).rows[0].port, pair.primary().port);
        await client.end();
        await delay(1_100);
      }
      // Nor is it taken for the primary while the new one is slow to answer.
      pair.primary().server.stall();
      await assert.rejects(new DatabaseClient(connectionOptions(pair.hostsUrl)).connect(), /former primary/);
      pair.primary().server.mend(true);
      await member.kill();
    } finally {
      await listener.close();
      await database.close();
    }
  });
});
