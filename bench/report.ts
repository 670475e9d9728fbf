import type { CpuMs } from './cpu.ts';
import type { Result } from './row.ts';

/** The results as a Markdown table. */
export function printTable(results: readonly Result[]): string {
  const head = [
    'row',
    'value',
    'reference',
    'reference value',
    'ratio (spread)',
    'goal',
    'p50 / p99 ms',
    'CPU ms each, ours',
    'theirs',
  ];
  const rows = results.map((result) => [
    result.name,
    `${digits(result.value)} ${result.unit}`,
    result.reference,
    digits(result.referenceValue),
    `**${digits(result.ratio)}** (${result.spread.map(digits).join('–')})`,
    `${result.goal} ${result.goal === '' ? '' : result.met ? 'met' : 'missed'}`.trim(),
    result.p50Ms === undefined ? '' : `${digits(result.p50Ms)} / ${digits(result.p99Ms ?? Number.NaN)}`,
    printCpu(result.cpu),
    printCpu(result.referenceCpu),
  ]);
  return markdown(head, rows);
}

/** Figures of an earlier run, and where they were measured. */
interface Kept {
  readonly machine: string;
  /** The day. */
  readonly on: string;
  readonly results: readonly Cost[];
}

type Cost = Pick<Result, 'name' | 'cpu' | 'referenceCpu'>;

/**
 * What each row cost now and then, as a Markdown table. The reference, in the same run, tells how fast the machine was.
 */
export function printCosts(results: readonly Result[], kept: Kept): string {
  const head = ['row', 'CPU ms each, now', `on ${kept.on} (${kept.machine})`, 'of the reference, now', 'then'];
  const rows = results.map((now) => {
    const then = kept.results.find(({ name }) => name === now.name);
    return [now.name, printCpu(now.cpu), printCpu(then?.cpu), share(now), then ? share(then) : ''];
  });
  return markdown(head, rows);
}

/** Our CPU, of the reference's where that is known. */
function share({ cpu, referenceCpu }: Cost): string {
  return cpu && referenceCpu ? digits(sumOf(cpu) / sumOf(referenceCpu)) : '';
}

function sumOf(cpu: CpuMs): number {
  return Object.values(cpu).reduce((sum, ms) => sum + ms, 0);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

/** `1.23: gateway 0.40, core 0.51, …`; what took less than a hundredth of a millisecond is left out. */
function printCpu(cpu: CpuMs = {}): string {
  const shares = Object.entries(cpu).filter(([, ms]) => ms >= 0.01);
  if (shares.length === 0) return '';
  return `${sumOf(cpu).toFixed(2)}: ${shares.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ')}`;
}

function digits(value: number): string {
  if (Number.isNaN(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en').replaceAll(',', ' ') : value.toPrecision(3);
}
