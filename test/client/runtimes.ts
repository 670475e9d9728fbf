/** What merchants run the client with. `.ci/run` installs it; the tests that need it are skipped where it is absent. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';
import { nodeOfReaders } from '../docs/node-of-readers.ts';

const FOLDER = `${ROOT}test/client/runtimes/node_modules`;

/** Whether the packages of test/client/runtimes are installed. */
export const areRuntimesInstalled = existsSync(`${FOLDER}/.package-lock.json`);

/** The path in one of those packages. */
export function inRuntimes(path: string): string {
  return `${FOLDER}/${path}`;
}

/** What runs a program in JavaScript: its name, and how to find the command before the path of the program. */
export const RUNTIMES: readonly (readonly [name: string, find: () => Promise<readonly string[]>])[] = [
  ["the tests' Node", async () => [process.execPath]],
  ["the reader's Node", async () => [`${await nodeOfReaders()}/node`]],
  ...(areRuntimesInstalled
    ? ([
        ['Bun', async () => [inRuntimes('.bin/bun')]],
        ['Deno', async () => [inRuntimes('.bin/deno'), 'run', '--allow-all']],
      ] as const)
    : []),
];

/** The Pythons of this machine: its own, and 3.9 and 3.13 where they are installed. */
export async function pythons(): Promise<readonly string[]> {
  const found = await Promise.all(['python3', 'python3.9', 'python3.13'].map(pathOf));
  return found.filter((path) => path !== undefined);
}

/** The path of a Python that works, also of one that pyenv keeps; undefined = there is none. */
async function pathOf(program: string): Promise<string | undefined> {
  const kept = await printed('pyenv', 'whence', '--path', program);
  for (const candidate of [program, ...(kept ?? '').split('\n').filter(Boolean)]) {
    const path = await printed(candidate, '-c', 'import ssl, sys; print(sys.executable)');
    if (path !== undefined) return path.trim();
  }
  return undefined;
}

async function printed(program: string, ...args: string[]): Promise<string | undefined> {
  const ended = promisify(execFile)(program, args);
  return ended.then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
