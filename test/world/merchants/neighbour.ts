/** Well-behaved merchants that measure their calls, and a noisy one. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment, Merchant } from '../../torture/deployment/deployment.ts';
import { type Caller, openCaller } from './caller.ts';

/** Calls over a period; milliseconds beyond the processor's own time. */
export interface Measured {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answered 202: nothing is wrong, but the result is not there yet. */
  readonly unknown: number;
  /** Neither done nor unknown, by status. */
  readonly failed: Readonly<Record<string, number>>;
}

/** A neighbour's calls without a disturbance and with it. */
export interface Seen {
  readonly name: string;
  readonly allowedMs: number;
  readonly without: Measured;
  readonly with: Measured;
  /** Of the first core, which is the one attacked. */
  readonly memoryMb: readonly [before: number, after: number];
  readonly what: string;
}

export type Neighbours = Awaited<ReturnType<typeof openNeighbours>>;
export type Neighbour = Awaited<ReturnType<typeof openNeighbour>>;

/** Opens a neighbour at each gateway, and warms the service up. Nobody calls before a disturbance. */
export async function openNeighbours(stage: Deployment) {
  const named = (name: string) => stage.merchants.get(name) as Merchant;
  const opened = await Promise.all(
    [stage.baseUrl, stage.besideUrl].map((url) => openNeighbour(url, named('neighbour'))),
  );
  const [neighbour, beside] = opened as [Neighbour, Neighbour];
  const warming = opened.map((each) => each.start());
  await delay(4_000);
  await Promise.all(warming.map((each) => each.stop()));
  const caller = openCaller(stage.baseUrl);
  return {
    neighbour,
    /** At a gateway that uses only the second core. */
    beside,
    caller,
    noisy: named('noisy'),
    /** What was measured. */
    seen: [] as Seen[],
    stop: async () => undefined,
    close: () => Promise.all([...opened, caller].map((each) => each.close())),
  };
}

/** Places holds for later captures. */
async function openNeighbour(baseUrl: string, { apiKey }: Merchant) {
  const caller = openCaller(baseUrl);
  const place = (tokenId: string) => {
    const body = { tokenId, amount: 1_000_000, currency: 'EUR', terminalId: 'T1', userId: 'n' };
    return { apiKey, path: '/preauthorization', body };
  };
  const handles: string[] = [];
  while (handles.length < HOLDS) handles.push((await caller.send(place('tok_sandbox_ok'))).body.preauthorizationId);
  let turn = 0;
  /** Alternates between a capture and a hold, with and without a key. */
  const next = () => {
    turn++;
    const key = turn % 4 < 2 ? randomUUID() : undefined;
    if (turn % 2 === 0) return { ...place('tok_sandbox_ok'), key };
    const body = { preauthorizationId: handles[turn % HOLDS], amountToCapture: 1 };
    return { apiKey, path: '/preauthorization/authorization', body, key };
  };
  return {
    /** Calls at a steady rate until it is stopped, with a few slow calls always in flight; returns the measurements. */
    start: () => start(caller, next, () => ({ ...place('tok_sandbox_slow'), key: randomUUID() })),
    close: () => caller.close(),
  };
}

const HOLDS = 40;
const CALLS_PER_SECOND = 40;
const SLOW_LANES = 6;
/** The latency of the slow token. */
const PROCESSOR_MS = 2_000;

type MakeCall = () => Parameters<Caller['send']>[0];

function start(caller: Caller, next: MakeCall, slow: MakeCall) {
  const waitedMs: number[] = [];
  const failed: Record<string, number> = {};
  const running = new Set<Promise<void>>();
  let unknown = 0;
  let stopped = false;
  const call = async (make: MakeCall, processorMs: number) => {
    const { status, body, tookMs } = await caller.send(make());
    waitedMs.push(tookMs - processorMs);
    if (status === 202) unknown++;
    else if (status !== 200 && status !== 201) {
      const what = `${status || 'connection broken'} ${body.code ?? ''}`.trim();
      failed[what] = (failed[what] ?? 0) + 1;
    }
  };
  const lanes = Array.from({ length: SLOW_LANES }, async () => {
    while (!stopped) await call(slow, PROCESSOR_MS);
  });
  const startedMs = performance.now();
  const steady = (async () => {
    for (let sent = 0; !stopped; sent++) {
      await delay(Math.max(0, startedMs + (sent * 1_000) / CALLS_PER_SECOND - performance.now()));
      const one = call(next, 0).finally(() => running.delete(one));
      running.add(one);
    }
  })();
  return {
    async stop(): Promise<Measured> {
      stopped = true;
      await Promise.all([steady, ...lanes]);
      await Promise.all(running);
      waitedMs.sort((a, b) => a - b);
      const at = (share: number) => Math.round(waitedMs[Math.ceil(waitedMs.length * share) - 1] ?? 0);
      return { calls: waitedMs.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), unknown, failed };
    },
  };
}
