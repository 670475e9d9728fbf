/** `npm run bench`: every row side by side with its reference, medians of three, as a table and as JSON. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openHouse } from './house.ts';
import { measure, type Result } from './row.ts';
import { holds, pairs, restHolds } from './rows/holds.ts';
import { printTable } from './table.ts';

const ROWS = [holds, pairs, restHolds];

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    rows: { type: 'string', default: '' },
    repetitions: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
  },
});
const wanted = ROWS.filter(({ name }) => name.includes(values.rows));
const house = await openHouse();
const results: Result[] = [];
try {
  for (const row of wanted) {
    process.stderr.write(`${row.name} …\n`);
    results.push(await measure(row, house, Number(values.repetitions), Number(values.seconds)));
  }
} finally {
  await house.close();
}
process.stdout.write(printTable(results));
if (values.json) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
