/** CPU time of the service's processes, from /proc; nothing on systems that have none. */
import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds of CPU by process class: `core`, `gateway`, `PostgreSQL` … */
export type CpuMs = Readonly<Record<string, number>>;

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/**
 * The CPU that each of these has used since it started. `PostgreSQL` is its server with all backends, those that ended
 * included.
 */
export async function cpuOf(pids: Readonly<Record<string, number>>): Promise<CpuMs> {
  const spent: Record<string, number> = {};
  for (const [name, pid] of Object.entries(pids)) {
    const own = await statOf(pid);
    if (!own) continue;
    spent[name] = own.ownMs + (name === POSTGRESQL ? own.endedMs + (await backendsMs(pid)) : 0);
  }
  return spent;
}

export const POSTGRESQL = 'PostgreSQL';

/** What was used between two readings, for each of so many acts. */
export function cpuEach(before: CpuMs, after: CpuMs, acts: number): CpuMs {
  return Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? ms)) / acts]));
}

/** The process that started this one; 0 = unknown. */
export async function parentOf(pid: number): Promise<number> {
  return (await statOf(pid))?.parent ?? 0;
}

async function backendsMs(postmaster: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(statOf));
  return stats.reduce((sum, stat) => sum + (stat?.parent === postmaster ? stat.ownMs : 0), 0);
}

async function statOf(pid: number) {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name of the program stands in parentheses and may have spaces; the state follows it (proc(5)).
  const fields = line
    ?.slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  if (!fields) return undefined;
  const [, parent = 0] = fields;
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { parent, ownMs: (user + system) * TICK_MS, endedMs: (endedUser + endedSystem) * TICK_MS };
}
