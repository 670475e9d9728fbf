import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/**
 * Returns the folder of the Node that runs npm: the reader's own `node`, possibly as old as 20, while the tests run on
 * the Node that comes with the packages. Without npm, the folder of this process's Node.
 */
export async function nodeOfReaders(): Promise<string> {
  const paths = (process.env.PATH ?? '').split(':').filter((path) => path !== '' && !path.includes('node_modules'));
  for (const path of paths) {
    const answer = await promisify(execFile)(`${path}/node`, ['-p', 'process.version']).catch(() => undefined);
    if (answer !== undefined) return path;
  }
  return dirname(process.execPath);
}
