/** What other merchants notice of one merchant's flood, of a locked row, of dropped streams and of a frozen core. */
import assert from 'node:assert/strict';
import type { Measured, Neighbours, Seen } from '../merchants/neighbour.ts';
import type { Scene, Stage } from '../play.ts';

/** No call of a neighbour fails or waits too long. Returns a table. */
export async function unhindered({ merchants: { seen } }: Scene<Stage, Neighbours>): Promise<string> {
  const lines = [...HEAD, ...seen.map(rowOf)];
  assert(seen.length > 0 && seen.every((each) => each.with.calls > 0), 'nothing was measured, so nothing is shown');
  const faults = seen.flatMap(faultsOf);
  assert.equal(faults.length, 0, [...lines, ...faults].join('\n'));
  return lines.join('\n');
}

const HEAD = [
  '| Disturbance | calls | p50 / p99 / max ms without | with | 202 | failed | core MB before → after | what happened |',
  '|---|---|---|---|---|---|---|---|',
];

function rowOf(seen: Seen): string {
  const times = ({ p50Ms, p99Ms, maxMs }: Measured) => `${p50Ms} / ${p99Ms} / ${maxMs}`;
  const failed = (measured: Measured) =>
    Object.entries(measured.failed)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ') || '0';
  const cells = [
    seen.name,
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

function faultsOf({ name, allowedMs, ...seen }: Seen): string[] {
  const longerMs = seen.with.maxMs - seen.without.maxMs;
  return [
    ...Object.entries(seen.with.failed).map(([status, count]) => `${name}: ${count} calls of the neighbour: ${status}`),
    ...(longerMs > allowedMs ? [`${name}: the neighbour waited ${longerMs} ms longer; ${allowedMs} are allowed`] : []),
  ];
}
