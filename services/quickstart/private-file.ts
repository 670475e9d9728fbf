/** JSON files that only their owner may read. */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

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
