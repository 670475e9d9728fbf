/** `npm run bench`: every row side by side with its reference, medians of three, as a table and as JSON. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openHouse } from './house.ts';
import { drawPlot, printTable } from './report.ts';
import { measure, type Result } from './row.ts';
import { echo, holds, loneHold, pairs, relay, restHolds } from './rows/calls.ts';
import { deliveries, firstAttemptP50, firstAttemptP99 } from './rows/deliveries.ts';
import { history, memory } from './rows/soak.ts';
import { watch } from './rows/watch.ts';

const ROWS = [echo, holds, pairs, loneHold, restHolds, relay, firstAttemptP50, firstAttemptP99, deliveries, watch];
const LONG_ROWS = [history, memory];

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    soak: { type: 'boolean', default: false },
    plot: { type: 'string' },
    rows: { type: 'string', default: '' },
    repetitions: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
  },
});
const wanted = [...ROWS, ...(values.soak ? LONG_ROWS : [])].filter(({ name }) => name.includes(values.rows));
const house = await openHouse();
const results: Result[] = [];
try {
  for (const row of wanted) {
    process.stderr.write(`${row.name} …\n`);
    results.push(
      await measure(row, house, LONG_ROWS.includes(row) ? 1 : Number(values.repetitions), Number(values.seconds)),
    );
  }
} finally {
  await house.close();
}
process.stdout.write(printTable(results));
if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
if (values.plot) await writeFile(values.plot, drawPlot(results));
