/** The statements that every operation makes, as text that can be read and pasted into psql. */
import { readFile, writeFile } from 'node:fs/promises';
import { HOT_STATEMENTS } from '../services/core/storage/hot-statements.ts';
import { firstDifference } from './first-difference.ts';
import { ROOT } from './sources.ts';

const FILE = 'services/core/statements.sql';

const HEADER = `-- The statements that every operation makes, in their order, for review. Written by npm run generate; npm run check compares it.
-- In psql: prepare each as it stands, or explain (generic_plan) it.
`;

/** Compares the file with the statements. */
export async function statementFaults(): Promise<string[]> {
  const difference = firstDifference(await readFile(ROOT + FILE, 'utf8'), statements());
  return difference === undefined ? [] : [`${FILE}:${difference}; run npm run generate`];
}

/** Writes the file. */
export async function writeStatements(): Promise<void> {
  await writeFile(ROOT + FILE, statements());
}

function statements(): string {
  return `${HEADER}${HOT_STATEMENTS.map(({ name, text }) => `\n-- ${name}\n${text};\n`).join('')}`;
}
