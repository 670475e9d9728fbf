/** The files of a PostgreSQL cluster, made once. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { PostgresHome } from './postgres-home.ts';

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
