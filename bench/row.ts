import type { CpuMs } from './cpu.ts';
import type { House } from './house.ts';
import { endLoads, type LoadResult } from './load.ts';
import { referenceName } from './references/pgbench.ts';

/** One measurement of a row: the service's figure and its reference's, taken one after the other. */
export interface Measured {
  readonly value: number;
  readonly reference: number;
  readonly p50Ms?: number | undefined;
  readonly p99Ms?: number | undefined;
  /** CPU for each act of ours, milliseconds by process class. */
  readonly cpu?: CpuMs | undefined;
  /** The same of the reference. */
  readonly referenceCpu?: CpuMs | undefined;
}

/** A row of the table. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  /** What it is measured against. */
  readonly reference: string;
  /** The ratio that is wished for, and on which side of it is good. */
  readonly goal: { readonly atLeast: number } | { readonly atMost: number } | undefined;
  /** Measured as often before, for nothing: until then, processes are busy compiling. Absent = yes. */
  readonly warmsUp?: boolean;
  /** How often it is measured; absent = as often as asked for. */
  readonly repetitions?: number;
  /** Prepares and answers how to measure once. */
  prepare(house: House, seconds: number): Promise<() => Promise<Measured>>;
}

/** A row's result: medians over the repetitions, and how far these lie apart. */
export interface Result extends Pick<Row, 'name' | 'unit' | 'reference'>, Omit<Measured, 'reference'> {
  readonly referenceValue: number;
  readonly ratio: number;
  /** Lowest and highest ratio of the repetitions. */
  readonly spread: readonly [number, number];
  readonly goal: string;
  readonly met: boolean;
}

/** Measures a row, side by side with its reference, several times. */
export async function measure(row: Row, house: House, asked: number, seconds: number): Promise<Result> {
  try {
    const once = await row.prepare(house, seconds);
    const { repetitions = asked } = row;
    for (let warmUp = 0; warmUp < (row.warmsUp === false ? 0 : repetitions); warmUp++) await once();
    const measured: Measured[] = [];
    for (let repetition = 0; repetition < repetitions; repetition++) measured.push(await once());
    return resultOf(row, measured);
  } finally {
    await house.endRow();
    await endLoads();
  }
}

async function resultOf(row: Row, measured: readonly Measured[]): Promise<Result> {
  const ratios = measured.map(({ value, reference }) => value / reference).sort((a, b) => a - b);
  const ratio = median(ratios);
  const { goal } = row;
  return {
    name: row.name,
    unit: row.unit,
    value: median(measured.map(({ value }) => value)),
    reference: row.reference.replace('pgbench', await referenceName()),
    referenceValue: median(measured.map(({ reference }) => reference)),
    ratio,
    spread: [ratios[0] ?? ratio, ratios.at(-1) ?? ratio],
    goal: goal ? ('atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`) : '',
    met: !goal || ('atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost),
    p50Ms: medianOf(measured.map(({ p50Ms }) => p50Ms)),
    p99Ms: medianOf(measured.map(({ p99Ms }) => p99Ms)),
    cpu: medianCpu(measured.map(({ cpu }) => cpu)),
    referenceCpu: medianCpu(measured.map(({ referenceCpu }) => referenceCpu)),
  };
}

/** A throughput as the value of a row. */
export function throughput(service: LoadResult, reference: LoadResult): Measured {
  const { perSecond: value, p50Ms, p99Ms, cpu } = service;
  return { value, reference: reference.perSecond, p50Ms, p99Ms, cpu, referenceCpu: reference.cpu };
}

function medianCpu(readings: readonly (CpuMs | undefined)[]): CpuMs | undefined {
  const known = readings.filter((reading) => reading !== undefined);
  const names = Object.keys(known[0] ?? {});
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, median(known.map((reading) => reading[name] ?? 0))]));
}

/** The median of what was measured; undefined when nothing was. */
function medianOf(readings: readonly (number | undefined)[]): number | undefined {
  const known = readings.filter((reading) => reading !== undefined);
  return known.length > 0 ? median(known) : undefined;
}

/** The middle one, or NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
