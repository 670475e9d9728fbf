/** The attacks, and their Markdown table in results.md. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { ADAPTER_DOOR } from './adapter-door.ts';
import type { Attack, Met } from './attack.ts';
import { FLOODS } from './floods.ts';
import type { Measured } from './healthy-merchant.ts';
import { HOSTILE_ENDPOINTS } from './hostile-endpoints.ts';
import { PIPELINERS } from './pipeliners.ts';
import { REPORTS } from './reports.ts';
import { REQUEST_LINES } from './request-lines.ts';
import { SIGNATURES } from './signatures.ts';
import { SILENT_PROCESSOR } from './silent-processor.ts';
import { SLOW_SERVERS } from './slow-servers.ts';
import { STORMS } from './storms.ts';
import { STREAMERS } from './streams.ts';

/** In order. */
export const ATTACKS: readonly Attack[] = [
  REQUEST_LINES,
  SIGNATURES,
  FLOODS,
  SLOW_SERVERS,
  HOSTILE_ENDPOINTS,
  PIPELINERS,
  STREAMERS,
  ADAPTER_DOOR,
  SILENT_PROCESSOR,
  STORMS,
  REPORTS,
].flat();

const FILE = new URL('results.md', import.meta.url);
export const BEGIN = '<!-- Written by `npm run torture -- edge`; test/house/edge-table.test.ts compares the names. -->';
export const END = '<!-- The end of what it wrote. -->';

/** One attack, and what the healthy merchant measured without and with it. */
export interface Row {
  readonly attack: Attack;
  readonly met: Met;
  readonly without: Measured;
  readonly during: Measured;
  readonly logBytes: number;
  /** Empty when everything is as expected. */
  readonly faults: readonly string[];
}

const HEAD = [
  '| Attack | Must meet | Met | Reads p50 / p99, ms: without → with | Notified p50 / p99, ms: without → with | ' +
    'Merchant failed | Logged | |',
  '|---|---|---|---|---|---|---|---|',
];

/** Returns the whole table. */
export function tableOf(rows: readonly Row[]): string[] {
  return [...HEAD, ...rows.map(lineOf)];
}

function lineOf({ attack, met, without, during, logBytes, faults }: Row): string {
  const answers = [...met.answers].sort().map(([answer, count]) => `${count} × ${answer}`);
  const failures = Object.values(during.failed).reduce((sum, count) => sum + count, 0);
  const cells = [
    attack.name,
    attack.expects,
    answers.join(', '),
    `${times(without.readsMs)} → ${times(during.readsMs)}`,
    `${times(without.notifiedMs)} → ${times(during.notifiedMs)}`,
    String(failures),
    `${Math.round(logBytes / 1024)} KiB`,
    faults.length === 0 ? 'held' : '**failed**',
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function times(valuesMs: readonly number[]): string {
  return `${percentile(valuesMs, 0.5)} / ${percentile(valuesMs, 0.99)}`;
}

/** Undefined without measurements. */
export function percentileMs(valuesMs: readonly number[], share: number): number | undefined {
  const sorted = valuesMs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** In whole milliseconds, with a decimal below 10; `–` without measurements. */
function percentile(valuesMs: readonly number[], share: number): string {
  const value = percentileMs(valuesMs, share);
  return value === undefined ? '–' : value.toFixed(value < 10 ? 1 : 0);
}

/** Writes rows into the table in results.md. A row that was not made stays as it is. */
export async function writeTable(rows: readonly Row[]): Promise<void> {
  const text = await readFile(FILE, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  assert(begin >= 0 && end > begin, 'results.md has lost the markers of the table');
  const before = text.slice(begin, end).split('\n');
  const lines = ATTACKS.flatMap(({ name }) => {
    const row = rows.find(({ attack }) => attack.name === name);
    return row ? lineOf(row) : (before.find((line) => line.startsWith(`| ${name.replaceAll('|', '\\|')} |`)) ?? []);
  });
  const table = [BEGIN, ...HEAD, ...lines].join('\n');
  await writeFile(FILE, `${text.slice(0, begin)}${table}\n\n${text.slice(end)}`);
}
