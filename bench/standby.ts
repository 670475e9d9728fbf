/** A synchronous standby of the service's database, on the same machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../services/quickstart/ports.ts';
import { removePostgres, startPostgres } from '../services/quickstart/postgres.ts';
import { choosePostgresHome } from '../services/quickstart/postgres-home.ts';
import { takeBaseBackup } from '../test/torture/failover/base-backup.ts';
import { type House, query } from './house.ts';

/**
 * Starts the standby. Until the row ends, every commit waits for the standby's disk, too. Throws when it does not follow
 * within 30 s.
 */
export async function withStandby({
  adminUrl,
  dataDir,
  secrets,
  atRowEnd,
}: Pick<House, 'adminUrl' | 'dataDir' | 'secrets' | 'atRowEnd'>): Promise<void> {
  const directory = `${dataDir}/standby`;
  const [from, to] = [await choosePostgresHome(`${dataDir}/postgres`), await choosePostgresHome(directory)];
  const { hostname, port } = new URL(adminUrl);
  const address = `host=${hostname} port=${port} user=postgres password=${secrets.superuserPassword}`;
  // Its receiver comes as soon as it has read the copy: until then no log may be removed.
  await query(adminUrl, "alter system set wal_keep_size = '1GB'");
  await query(adminUrl, 'select pg_reload_conf()');
  await takeBaseBackup({ adminUrl, from, to, primaryConnection: `${address} application_name=standby` });
  const standby = await startPostgres({
    directory,
    logFile: `${dataDir}/logs/standby.log`,
    port: await freePort(),
    password: secrets.databasePassword,
    superuserPassword: secrets.superuserPassword,
  });
  atRowEnd(async () => {
    await waitForStandby(adminUrl, '');
    await standby.stop();
    await removePostgres(to);
  });
  await waitForStandby(adminUrl, 'standby');
  const deadline = performance.now() + FOLLOWS_MS;
  while ((await query(adminUrl, SYNCHRONOUS)).length === 0) {
    if (performance.now() > deadline) throw new Error('the standby does not follow');
    await sleep(LOOK_MS);
  }
}

/** Has commits wait for the standby of this name; '' = for none. */
async function waitForStandby(adminUrl: string, name: string): Promise<void> {
  await query(adminUrl, `alter system set synchronous_standby_names = '${name}'`);
  await query(adminUrl, 'select pg_reload_conf()');
}

const SYNCHRONOUS = `select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'`;
const FOLLOWS_MS = 30_000;
const LOOK_MS = 100;
