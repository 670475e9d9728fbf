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
  const head = ['row', 'value', 'reference', 'reference value', 'ratio (spread)', 'goal', 'p50 / p99 ms'];
  const rows = results.map((result) => [
    result.name,
    `${digits(result.value)} ${result.unit}`,
    result.reference,
    digits(result.referenceValue),
    `**${digits(result.ratio)}** (${result.spread.map(digits).join('–')})`,
    `${result.goal} ${result.goal === '' ? '' : result.met ? 'met' : 'missed'}`.trim(),
    result.p50Ms === undefined ? '' : `${digits(result.p50Ms)} / ${digits(result.p99Ms ?? Number.NaN)}`,
  ]);
  return `${[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

function digits(value: number): string {
  if (Number.isNaN(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en').replaceAll(',', ' ') : value.toPrecision(3);
}
