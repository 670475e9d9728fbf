/** What other merchants notice of one merchant's flood, of a locked row, of dropped streams and of a frozen core. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { chance } from './chance.ts';
import { type Merchant, openDeployment } from './deployment/deployment.ts';
import { captureAtRate, DISTURBANCES, type Disturbance, type Disturbed, place } from './neighbours/disturbances.ts';
import { type Measured, type Neighbour, openNeighbour } from './neighbours/neighbour.ts';
import { openCaller } from './obedient/caller.ts';
import type { TortureOptions } from './options.ts';

/**
 * Runs every disturbance, each after a measurement without it. Returns a table; throws when a neighbour's call fails or
 * waits too long.
 */
export async function tortureNeighbours({ seed, tell = () => undefined }: TortureOptions): Promise<string[]> {
  const deployment = await openDeployment({ neighbour: true, noisy: true }, { withGatewayBeside: true });
  const named = (name: string) => deployment.merchants.get(name) as Merchant;
  const caller = openCaller(deployment.baseUrl);
  const neighbours = await Promise.all(
    [deployment.baseUrl, deployment.besideUrl].map((url) => openNeighbour(url, named('neighbour'))),
  );
  try {
    const disturbed = { deployment, caller, noisy: named('noisy'), random: chance(seed) };
    const lines = [...HEAD];
    const faults: string[] = [];
    await warmUp(neighbours);
    for (const disturbance of DISTURBANCES) {
      const neighbour = neighbours[disturbance.isBeside ? 1 : 0] as Neighbour;
      const seen = await observe(disturbed, disturbance, neighbour);
      const row = rowOf(disturbance, seen);
      lines.push(row);
      faults.push(...faultsOf(disturbance, seen));
      tell(row);
      await delay(REST_MS);
    }
    assert.equal(faults.length, 0, [...lines, ...faults].join('\n'));
    return lines;
  } finally {
    for (const each of [...neighbours, caller]) await each.close();
    await deployment.close();
  }
}

interface Seen {
  readonly without: Measured;
  readonly with: Measured;
  /** Of the first core, which is the one attacked. */
  readonly memoryMb: readonly [before: number, after: number];
  readonly what: string;
}

const WITHOUT_MS = 8_000;
/** Work left behind may keep the service busy. */
const REST_MS = 8_000;

async function warmUp(neighbours: readonly Neighbour[]): Promise<void> {
  const running = neighbours.map((neighbour) => neighbour.start());
  await delay(4_000);
  await Promise.all(running.map((each) => each.stop()));
}

async function observe(disturbed: Disturbed, disturbance: Disturbance, neighbour: Neighbour): Promise<Seen> {
  const load = await startLoad(disturbed, disturbance.capturesPerSecond ?? 0);
  const calm = neighbour.start();
  await Promise.all([delay(WITHOUT_MS), disturbance.calm?.(disturbed)]);
  const without = await calm.stop();
  const before = await disturbed.deployment.coreMemoryMb(0);
  const troubled = neighbour.start();
  const what = await disturbance.run(disturbed);
  await delay(1_000);
  const measured = await troubled.stop();
  const after = await disturbed.deployment.coreMemoryMb(0);
  await load.stop();
  return { without, with: measured, memoryMb: [before, after], what };
}

/** Captures of the noisy merchant on holds of its own. */
async function startLoad(disturbed: Disturbed, ratePerSecond: number): Promise<{ stop(): Promise<void> }> {
  const end = Promise.withResolvers<void>();
  if (ratePerSecond === 0) return { stop: async () => undefined };
  const holds = await Promise.all(Array.from({ length: 50 }, () => place(disturbed)));
  const handles = holds.map(({ body }) => body.preauthorizationId);
  const running = captureAtRate(disturbed, handles, ratePerSecond, end.promise);
  return {
    async stop() {
      end.resolve();
      await running;
    },
  };
}

const HEAD = [
  '| Disturbance | calls | p50 / p99 / max ms without | with | 202 | failed | core MB before → after | what happened |',
  '|---|---|---|---|---|---|---|---|',
];

function rowOf({ name }: Disturbance, seen: Seen): string {
  const times = ({ p50Ms, p99Ms, maxMs }: Measured) => `${p50Ms} / ${p99Ms} / ${maxMs}`;
  const failed = (measured: Measured) =>
    Object.entries(measured.failed)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ') || '0';
  const cells = [
    name,
    `${seen.without.calls}, ${seen.with.calls}`,
    times(seen.without),
    times(seen.with),
    `${seen.without.unknown}, ${seen.with.unknown}`,
    `${failed(seen.without)}, ${failed(seen.with)}`,
    seen.memoryMb.join(' → '),
    seen.what,
  ];
  return `| ${cells.join(' | ')} |`;
}

function faultsOf({ name, allowedMs }: Disturbance, seen: Seen): string[] {
  const longerMs = seen.with.maxMs - seen.without.maxMs;
  return [
    ...Object.entries(seen.with.failed).map(([status, count]) => `${name}: ${count} calls of the neighbour: ${status}`),
    ...(longerMs > allowedMs ? [`${name}: the neighbour waited ${longerMs} ms longer; ${allowedMs} are allowed`] : []),
  ];
}
