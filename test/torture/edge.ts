/** Hostile input at the edge: runs each attack on a running service, and measures its effect on a healthy merchant. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack, Target } from './edge/attack.ts';
import { type HealthyMerchant, type Measured, openHealthyMerchant } from './edge/healthy-merchant.ts';
import { openStack, type Stack } from './edge/stack.ts';
import { ATTACKS, percentileMs, type Row, tableOf, writeTable } from './edge/table.ts';
import type { TortureOptions } from './options.ts';

const WARM_UP_MS = 10_000;
const WITHOUT_MS = 3_000;
/** Work left behind by an attack may still keep the service busy. */
const REST_MS = 1_000;
/** A short attack is measured over a longer time to get enough samples. */
const DURING_MS = 2_000;
/** The permitted effect on a neighbour (docs/limits.md, "Neighbours"). */
const LONGER_MS = 1_000;

/**
 * Runs the attacks whose names contain `only` (default: all), the floods for `runs` seconds each. Writes their rows
 * into the table in edge/results.md and returns them. Throws when an attack got an unexpected answer, or the healthy
 * merchant was affected.
 */
export async function tortureEdge({ runs: seconds = 5, only = '' }: TortureOptions): Promise<string[]> {
  const attacks = ATTACKS.filter(({ name }) => name.includes(only));
  assert(attacks.length > 0, '--only: no attack has such a name');
  const rows = await playEdge(attacks, seconds);
  await writeTable(rows);
  const table = tableOf(rows);
  const faults = rows.flatMap(({ attack, faults }) => faults.map((fault) => `${attack.name}: ${fault}`));
  assert.equal(faults.length, 0, [...table, ...faults].join('\n'));
  return table;
}

/** Makes the short attacks, and throws when one got an unexpected answer: times say nothing on a busy machine. */
export async function tortureEdgeBriefly(): Promise<void> {
  const rows = await playEdge(
    ATTACKS.filter(({ short }) => short),
    1,
  );
  const faults = rows.flatMap(({ attack, met, during }) => {
    return [...met.faults, ...failures(during)].map((fault) => `${attack.name}: ${fault}`);
  });
  assert.deepEqual(faults, []);
}

async function playEdge(attacks: readonly Attack[], seconds: number): Promise<Row[]> {
  const stack = await openStack();
  const merchant = await openHealthyMerchant(stack.file.baseUrl, stack.createMerchant);
  try {
    const target: Target = { ...stack, healthy: merchant.merchant, floodMs: seconds * 1_000 };
    await delay(WARM_UP_MS);
    const rows: Row[] = [];
    for (const attack of attacks) {
      const row = await make(attack, target, stack, merchant);
      process.stderr.write(`${attack.name}: ${row.faults.join('; ') || 'held'}\n`);
      rows.push(row);
      await delay(REST_MS);
    }
    assert.deepEqual(stack.reports, []);
    return rows;
  } finally {
    await merchant.close();
    await stack.close();
  }
}

async function make(attack: Attack, target: Target, stack: Stack, merchant: HealthyMerchant): Promise<Row> {
  const { measured: without } = await merchant.during(() => delay(WITHOUT_MS));
  const loggedBefore = await stack.logBytes();
  const { result: met, measured: during } = await merchant.during(async () => {
    const measured = delay(DURING_MS);
    try {
      return await attack.run(target);
    } catch (error) {
      return { answers: new Map<string, number>(), faults: [`the attack itself failed: ${(error as Error).stack}`] };
    } finally {
      await measured;
    }
  });
  const logBytes = (await stack.logBytes()) - loggedBefore;
  return { attack, met, without, during, logBytes, faults: [...met.faults, ...suffered(attack, without, during)] };
}

function failures({ failed, readsMs }: Measured): string[] {
  const lines = Object.entries(failed).map(([what, count]) => `the merchant failed: ${count} × ${what}`);
  return readsMs.length === 0 ? [...lines, 'the merchant read nothing'] : lines;
}

/** The effects on the healthy merchant. */
function suffered({ p99LongerMs = LONGER_MS }: Attack, without: Measured, during: Measured): string[] {
  const longer = (what: string, calm: readonly number[], troubled: readonly number[]) => {
    const longerMs = Math.round(Math.max(0, ...troubled) - Math.max(0, ...calm));
    return longerMs > LONGER_MS ? [`the merchant's slowest ${what} took ${longerMs} ms longer`] : [];
  };
  const p99Ms = (percentileMs(during.readsMs, 0.99) ?? 0) - (percentileMs(without.readsMs, 0.99) ?? 0);
  return [
    ...failures(during),
    ...longer('read', without.readsMs, during.readsMs),
    ...longer('notification', without.notifiedMs, during.notifiedMs),
    ...(p99Ms > p99LongerMs ? [`the 99th percentile of the merchant's reads was ${Math.round(p99Ms)} ms longer`] : []),
  ];
}
