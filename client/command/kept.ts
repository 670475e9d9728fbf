/** The last notifications that `listen` forwarded, to look at and to forward again. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Forwarded } from './listen.ts';
import { homeOf, nameOf, type Run } from './run.ts';
import { UsageError } from './usage-error.ts';

const MOST = 10;

/** A file of the profile's last ten, readable by its owner only. Throws UsageError where there is no home directory. */
function fileOf(run: Run): string {
  const state = run.env.XDG_STATE_HOME || join(homeOf(), '.local', 'state');
  return join(state, 'holdfast', `listen-${encodeURIComponent(nameOf(run))}.json`);
}

/** The last ten, oldest first. Throws UsageError when the file cannot be read. */
export async function readKept(run: Run): Promise<readonly Forwarded[]> {
  const file = fileOf(run);
  try {
    const kept: unknown = JSON.parse(await readFile(file, 'utf8'));
    return Array.isArray(kept) ? kept : [];
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || name === 'SyntaxError') return [];
    throw new UsageError(`${file} cannot be read: ${code}`);
  }
}

/** Keeps one more. Throws UsageError when it cannot be kept: a home directory that is absent or read-only. */
export async function keep(run: Run, forwarded: Forwarded): Promise<void> {
  const file = fileOf(run);
  const kept = [...(await readKept(run)), forwarded].slice(-MOST);
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const next = `${file}.${process.pid}`;
    await writeFile(next, JSON.stringify(kept), { mode: 0o600 });
    await rename(next, file);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** One of them as people read it. */
export function inspected({
  statusInfo,
  requestId,
  status,
  error,
  tookMs,
  path,
  headers,
  body,
  answer,
}: Forwarded): string {
  return [
    `${statusInfo}  ${requestId}  ${status ?? error}  ${tookMs} ms`,
    `  POST ${path}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    `  ${body}`,
    `  answered: ${answer || 'nothing'}`,
  ].join('\n');
}
