/**
 * Copies a standby's data from a running primary with PostgreSQL's low-level backup functions: no other program is
 * needed.
 */
import { chown, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import type { PostgresHome } from '../../../services/quickstart/postgres-home.ts';
import { withSession } from '../deployment/postgres-member.ts';

interface BaseBackup {
  /** As the superuser, at the primary. */
  readonly adminUrl: string;
  readonly from: PostgresHome;
  readonly to: PostgresHome;
  /** The address for the standby's receiver: a libpq connection string. */
  readonly primaryConnection?: string;
}

/**
 * Replaces the data in `to` by a copy that starts as a standby, or, without a connection string, as a restored server.
 * The server on `to` must be stopped.
 */
export async function takeBaseBackup({ adminUrl, from, to, primaryConnection }: BaseBackup): Promise<void> {
  await withSession(adminUrl, async (session) => {
    await session.query("select pg_backup_start('torture', true)");
    await rm(to.data, { recursive: true, force: true });
    await copyFolder(from.data, to.data, to);
    const { rows } = await session.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    const write = (name: string, text: string, flag = 'w') => ownFile(`${to.data}/${name}`, text, flag, to);
    await write('backup_label', rows[0]?.labelfile ?? '');
    if (primaryConnection === undefined) return await copyLog(from, to);
    await write('standby.signal', '');
    // The last line of a setting applies.
    await write('postgresql.auto.conf', `primary_conninfo = '${primaryConnection}'\n`, 'a');
  });
}

/** Recreated by the server, or about the primary's own process. */
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts', 'standby.signal', 'backup_label.old']);
const LEFT_EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);

/** A restored server replays the log up to the end of the backup. */
async function copyLog(from: PostgresHome, to: PostgresHome): Promise<void> {
  for (const entry of await readdir(`${from.data}/pg_wal`, { withFileTypes: true })) {
    const target = `${to.data}/pg_wal/${entry.name}`;
    if (entry.isFile())
      await copyFile(`${from.data}/pg_wal/${entry.name}`, target).then(() => own(target, to), ignoreVanished);
  }
}

/** Files may disappear during the listing; the log has their changes. */
async function copyFolder(from: string, to: string, home: PostgresHome, isTop = true): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  await own(to, home);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [`${from}/${entry.name}`, `${to}/${entry.name}`];
    if (isTop && LEFT_OUT.has(entry.name)) continue;
    if (isTop && LEFT_EMPTY.has(entry.name)) {
      await mkdir(target, { mode: 0o700 });
      await own(target, home);
    } else if (entry.isDirectory()) await copyFolder(source, target, home, false);
    else await copyFile(source, target).then(() => own(target, home), ignoreVanished);
  }
}

function ignoreVanished(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

async function ownFile(path: string, text: string, flag: string, home: PostgresHome): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag });
  await own(path, home);
}

async function own(path: string, { process: { uid, gid } }: PostgresHome): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}
