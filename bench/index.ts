/**
 * `npm run bench`: every row side by side with its reference, medians of three, as a table, and with `--json FILE` as
 * JSON. `-- --quick`: the CPU of the hot paths alone, beside the figures that were kept last (`bench/kept.json`);
 * `-- --quick --keep` keeps them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { openHouse } from './house.ts';
import { printCosts, printTable } from './report.ts';
import { measure, type Result } from './row.ts';
import {
  holds,
  loneHold,
  loneRestHold,
  loneRestHoldStandby,
  manyMerchants,
  pairs,
  relay,
  relayByTwo,
  restHolds,
  restPairs,
} from './rows/calls.ts';
import { deliveries, firstAttemptP50, firstAttemptP99 } from './rows/deliveries.ts';
import { memory } from './rows/soak.ts';
import { watch } from './rows/watch.ts';
import { pairBytes, pairMs } from './rows/years.ts';

const HOT_ROWS = [pairs, restPairs, relay, deliveries];
const ROWS = [
  holds,
  pairs,
  manyMerchants,
  loneHold,
  loneRestHold,
  loneRestHoldStandby,
  restHolds,
  restPairs,
  relay,
  relayByTwo,
  firstAttemptP50,
  firstAttemptP99,
  deliveries,
  watch,
];
const YEARS_ROWS = [pairMs, pairBytes];
const KEPT = new URL('kept.json', import.meta.url);

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    soak: { type: 'boolean', default: false },
    years: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    rows: { type: 'string', default: '' },
    repetitions: { type: 'string' },
    seconds: { type: 'string' },
  },
});
const repetitions = Number(values.repetitions ?? (values.quick ? 1 : 3));
const seconds = Number(values.seconds ?? (values.quick ? 2 : 3));
const LONG_RUN = [...ROWS, ...(values.soak ? [memory, ...YEARS_ROWS] : [])];
const all = values.quick ? HOT_ROWS : values.years ? YEARS_ROWS : LONG_RUN;
const house = await openHouse();
const results: Result[] = [];
try {
  for (const row of all.filter(({ name }) => name.includes(values.rows))) {
    process.stderr.write(`${row.name} …\n`);
    results.push(await measure(row, house, repetitions, seconds));
  }
} finally {
  await house.close();
}
if (values.quick) process.stdout.write(printCosts(results, JSON.parse(await readFile(KEPT, 'utf8'))));
else process.stdout.write(printTable(results));
if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
if (values.keep) {
  const costs = results.map(({ name, cpu, referenceCpu }) => ({ name, cpu, referenceCpu }));
  await writeFile(KEPT, `${JSON.stringify({ machine: machine(), on: today(), results: costs }, null, 2)}\n`);
}

function machine(): string {
  const [processor] = cpus();
  return `${cpus().length} × ${processor?.model ?? 'unknown'}, Node ${process.version}`;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
