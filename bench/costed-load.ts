import { type CpuMs, cpuEach } from './cpu.ts';
import type { House } from './house.ts';
import { type LoadOrder, type LoadResult, runLoad } from './load.ts';

/** What a load saw, and what each of its acts cost the processes that served it. */
export interface CostedLoad extends LoadResult {
  /** Milliseconds of CPU for each act, by process class. */
  readonly cpu: CpuMs;
}

/** Runs a load. `others` are processes that serve it besides the house's, by name and pid. */
export async function runCosted(
  house: House,
  order: LoadOrder,
  others: Readonly<Record<string, number>> = {},
): Promise<CostedLoad> {
  const before = await house.cpu(others);
  const result = await runLoad(order);
  return { ...result, cpu: cpuEach(before, await house.cpu(others), result.acts) };
}
