import type { Result } from './row.ts';

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
