/** Closed-loop load from a process of its own, so that the client's work is not the server's. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { endModule, isStarted, startModule } from './child.ts';
import { type CpuMs, cpuEach } from './cpu.ts';
import type { House } from './house.ts';
import { LOADS, type Load } from './loads.ts';

/** The order that a load process gets. */
export interface LoadOrder {
  readonly load: keyof typeof LOADS;
  readonly inFlight: number;
  readonly seconds: number;
  /** Starts so many a second, evenly, instead of as many as it can. */
  readonly perSecond?: number;
  readonly options: Readonly<Record<string, string>>;
}

/** What it saw. */
export interface LoadResult {
  /** Acts that were carried out, those of the warm-up included. */
  readonly acts: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
  /** Milliseconds of CPU that each act cost the processes that served it, by process class; absent = not measured. */
  readonly cpu?: CpuMs;
}

/** The processes of the loads that have run; each waits for its next order, so that its code is compiled once. */
const children = new Map<string, ChildProcess>();

/** Runs a load in a process of its own. Throws when anything in it failed. */
export async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const name = JSON.stringify([order.load, order.options]);
  const child = children.get(name) ?? startModule(import.meta.url);
  children.set(name, child);
  child.send(order);
  const answered = new AbortController();
  const { signal } = answered;
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`load ${order.load} ended early, exit code ${code}`);
  });
  // Called off once the result is there.
  ended.catch(() => undefined);
  const [result] = (await Promise.race([once(child, 'message', { signal }), ended])) as [LoadResult];
  answered.abort();
  if (result.failures > 0) throw new Error(`load ${order.load}: ${result.failures} calls failed`);
  return result;
}

/** Runs a load, and measures its CPU. `others` are processes that serve it besides the house's, by name and pid. */
export async function runCosted(
  house: House,
  order: LoadOrder,
  others: Readonly<Record<string, number>> = {},
): Promise<LoadResult> {
  const before = await house.cpu(others);
  const result = await runLoad(order);
  return { ...result, cpu: cpuEach(before, await house.cpu(others), result.acts) };
}

/** Ends the processes of all loads. */
export async function endLoads(): Promise<void> {
  for (const child of children.values()) await endModule(child);
  children.clear();
}

/** Acts with so many in flight until the time is over; latencies are of calls that started after the warm-up. */
async function drive(load: Load, order: LoadOrder): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let acts = 0;
  let failures = 0;
  const startedAt = performance.now() + WARM_UP_MS;
  const endsAt = startedAt + order.seconds * 1_000;
  const turn = pacer(order.perSecond);
  const lane = async () => {
    for (let at = await turn(); at < endsAt; at = await turn()) {
      try {
        await load.act();
        acts += 1;
      } catch (error) {
        if (failures++ === 0) process.stderr.write(`${order.load}: ${(error as Error).message}\n`);
      }
      const doneAt = performance.now();
      if (at >= startedAt && doneAt < endsAt) latenciesMs.push(doneAt - at);
    }
  };
  await Promise.all(Array.from({ length: order.inFlight }, lane));
  latenciesMs.sort((a, b) => a - b);
  const quantile = (q: number) =>
    latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * q))] ?? Number.NaN;
  const perSecond = latenciesMs.length / order.seconds;
  return { acts, perSecond, p50Ms: quantile(0.5), p99Ms: quantile(0.99), failures };
}

/** Resolves when the next act may start, at once or evenly spread, with the time. */
function pacer(perSecond: number | undefined): () => Promise<number> {
  let next = performance.now();
  return async () => {
    const now = performance.now();
    if (perSecond === undefined) return now;
    const at = Math.max(next, now);
    next = at + 1_000 / perSecond;
    if (at > now) await sleep(at - now);
    return performance.now();
  };
}

if (isStarted(import.meta.url)) {
  let load: Load | undefined;
  process.on('message', async (order: LoadOrder) => {
    load ??= await LOADS[order.load](order.options);
    process.send?.(await drive(load, order));
  });
  process.once('disconnect', () => load?.close());
}

/** Before counting starts: until all connections are open and the pipeline is full. */
const WARM_UP_MS = 500;
