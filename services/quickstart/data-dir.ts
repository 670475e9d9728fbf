/** DATA_DIR: its permissions, its lock, and its files, which only their owner may read. */
import { chmod, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../../platform/make-folder.ts';

/**
 * Opens DATA_DIR for this launcher alone. The lock is the operating system's, on a SQLite file, so it ends with this
 * process, however the process ends. Throws when another launcher holds it, when the folder cannot be made, and when it
 * is one of everybody, such as /tmp. Returns the folder's real path and a function that releases the lock.
 */
export async function openDataDir(directory: string): Promise<{ path: string; close(): void }> {
  const make = (path: string) => {
    try {
      makeFolder(path);
    } catch (cause) {
      throw new Error(`DATA_DIR: cannot make ${directory}: ${(cause as NodeJS.ErrnoException).code}`, { cause });
    }
  };
  make(directory);
  if ((await stat(directory)).mode & 0o002) {
    throw new Error(`DATA_DIR: everybody may write to ${directory}; set DATA_DIR to another folder`);
  }
  for (const inner of ['logs', 'run']) make(`${directory}/${inner}`);
  // Root's PostgreSQL runs as another user, which must be able to enter its own folder; everything else is 0600 or
  // 0700.
  await chmod(directory, process.getuid?.() === 0 ? 0o711 : 0o700);
  for (const inner of ['logs', 'run']) await chmod(`${directory}/${inner}`, 0o700);
  const path = await realpath(directory);
  return { path, close: lock(path) };
}

/** Removes an unused DATA_DIR, with its database if that is kept elsewhere. */
export async function removeDataDir(directory: string): Promise<void> {
  const moved = await realpath(`${directory}/postgres/moved-to`).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (moved !== undefined) await rm(moved, { recursive: true });
  await rm(directory, { recursive: true });
}

function lock(path: string): () => void {
  const database = new DatabaseSync(`${path}/run/lock`, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (cause) {
    database.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause;
    throw new Error(`DATA_DIR: another launcher works in ${path}; stop it, or set DATA_DIR to another folder`, {
      cause,
    });
  }
  return () => database.close();
}

const SQLITE_BUSY = 5;

/** Writes a file of mode 0600. It appears whole or not at all, and survives a power cut. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const unfinished = `${path}.new`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}

/** Reads a JSON file; undefined when there is none. */
export async function readPrivateJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'it is not JSON'}`, {
      cause: error,
    });
  }
}
