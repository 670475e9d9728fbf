/** CPU time of the service's processes, from /proc; nothing on systems that have none. */
import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds of CPU by process class: `core`, `gateway`, `PostgreSQL` … */
export type CpuMs = Readonly<Record<string, number>>;

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** The CPU that each of these has used since it started, with the processes that it has started itself. */
export async function cpuOf(pids: Readonly<Record<string, number>>): Promise<CpuMs> {
  const running = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = new Map(await Promise.all(running.map(async (pid) => [pid, await statOf(pid)] as const)));
  const spent: Record<string, number> = {};
  for (const [name, pid] of Object.entries(pids)) {
    const own = stats.get(pid);
    if (!own) continue;
    const started = [...stats.values()].filter((stat) => stat?.parent === pid);
    spent[name] = started.reduce((sum, stat) => sum + (stat?.ownMs ?? 0), own.ownMs + own.endedMs);
  }
  return spent;
}

/** What was used between two readings, for each of so many acts. */
export function cpuEach(before: CpuMs, after: CpuMs, acts: number): CpuMs {
  return Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? ms)) / acts]));
}

/** The process that started this one; 0 = unknown. */
export async function parentOf(pid: number): Promise<number> {
  return (await statOf(pid))?.parent ?? 0;
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
