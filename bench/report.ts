import type { CpuMs } from './cpu.ts';
import type { Result } from './row.ts';

const ROW_PX = 34;
const LABEL_PX = 430;
const BAR_PX = 400;

/** The ratios as bars beside their goals, on a logarithmic scale from 0.1 to 10, as SVG. */
export function drawPlot(results: readonly Result[]): string {
  const height = results.length * ROW_PX + 50;
  const x = (ratio: number) => LABEL_PX + BAR_PX * ((Math.log10(Math.min(Math.max(ratio, 0.1), 10)) + 1) / 2);
  const rows = results.map((result, index) => {
    const y = 30 + index * ROW_PX;
    const goal = Number(/[\d.]+$/.exec(result.goal)?.[0]);
    const mark = Number.isNaN(goal) ? '' : `<path d="M${x(goal)} ${y - 2}v24" stroke="#c2410c" stroke-width="2"/>`;
    const [low, high] = result.spread;
    return `<text x="${LABEL_PX - 10}" y="${y + 15}" text-anchor="end">${escaped(result.name)}</text>
<rect x="${LABEL_PX}" y="${y}" width="${Math.max(x(result.ratio) - LABEL_PX, 1)}" height="20" fill="${result.met ? '#15803d' : '#64748b'}"/>
<path d="M${x(low)} ${y + 10}H${x(high)}" stroke="currentColor"/>${mark}
<text x="${LABEL_PX + BAR_PX + 10}" y="${y + 15}">${result.ratio.toPrecision(3)} ${escaped(result.goal)}</text>`;
  });
  const axis = [0.1, 1, 10].map(
    (ratio) => `<text x="${x(ratio)}" y="${height - 8}" text-anchor="middle">${ratio}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${LABEL_PX + BAR_PX + 120}" height="${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Each row's ratio to its reference">
<rect width="100%" height="100%" fill="#fff"/>
<text x="10" y="18">ratio to the reference (bar), its goal (orange mark) and the repetitions' spread (line)</text>
${rows.join('\n')}
${axis.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

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
export interface Kept {
  readonly machine: string;
  /** The day. */
  readonly on: string;
  readonly results: readonly Result[];
}

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
function share({ cpu, referenceCpu }: Result): string {
  return cpu && referenceCpu ? digits(sumOf(cpu) / sumOf(referenceCpu)) : '';
}

function sumOf(cpu: CpuMs): number {
  return Object.values(cpu).reduce((sum, ms) => sum + ms, 0);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

/** `1.23: gateway 0.40, core 0.51, …`; what took less than a hundredth of a millisecond is left out. */
export function printCpu(cpu: CpuMs = {}): string {
  const shares = Object.entries(cpu).filter(([, ms]) => ms >= 0.01);
  if (shares.length === 0) return '';
  return `${sumOf(cpu).toFixed(2)}: ${shares.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ')}`;
}

function digits(value: number): string {
  if (Number.isNaN(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en').replaceAll(',', ' ') : value.toPrecision(3);
}
