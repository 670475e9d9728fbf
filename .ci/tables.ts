/** Tables of the documents that repeat the code: `npm run generate` writes them, `npm run check` compares them. */
import { readFile, writeFile } from 'node:fs/promises';
import { firstDifference } from './first-difference.ts';
import { ROOT } from './sources.ts';
import { limitsTable } from './tables/limits.ts';
import { notificationsTable } from './tables/notifications.ts';
import { refusalsTable } from './tables/refusals.ts';
import { roomsTable } from './tables/rooms.ts';
import { cardsTable, tokensTable } from './tables/sandbox.ts';
import { settingsTable } from './tables/settings.ts';
import type { Table } from './tables/table.ts';

/** Each table by the document and the name in its mark, `<!-- generated: NAME -->`. A blank line ends it. */
const TABLES: readonly (readonly [file: string, name: string, make: () => Table | Promise<Table>])[] = [
  ['docs/architecture.md', 'rooms', roomsTable],
  ['docs/interfaces.md', 'refusals', refusalsTable],
  ['docs/limits.md', 'limits', limitsTable],
  ['docs/notifications.md', 'notifications', notificationsTable],
  ['docs/sandbox.md', 'tokens', tokensTable],
  ['docs/sandbox.md', 'cards', cardsTable],
  ['docs/settings.md', 'settings', settingsTable],
];

/** Returns one line for each document whose tables are not those of the code. */
export async function tableFaults(): Promise<string[]> {
  const documents = await written();
  return [...documents].flatMap(([file, { before, after }]) => {
    const difference = firstDifference(before, after);
    return difference === undefined ? [] : [`${file}:${difference}; run npm run generate`];
  });
}

/** Writes the tables into their documents. */
export async function writeTables(): Promise<void> {
  for (const [file, { after }] of await written()) await writeFile(ROOT + file, after);
}

async function written(): Promise<Map<string, { before: string; after: string }>> {
  const documents = new Map<string, { before: string; after: string }>();
  for (const [file, name, make] of TABLES) {
    const before = documents.get(file)?.before ?? (await readFile(ROOT + file, 'utf8'));
    const after = replaced(documents.get(file)?.after ?? before, file, name, await make());
    documents.set(file, { before, after });
  }
  return documents;
}

function replaced(text: string, file: string, name: string, [header = [], ...rows]: Table): string {
  const [start, rest, ...more] = text.split(`<!-- generated: ${name} -->\n`);
  if (rest === undefined || more.length > 0) throw new Error(`${file} has no mark, or several, of the table ${name}`);
  const lines = [header, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  lines.splice(1, 0, `|${'---|'.repeat(header.length)}`);
  const end = rest.search(/^(?!\|)(?!\n\|)/m);
  return `${start}<!-- generated: ${name} -->\n\n${lines.join('\n')}\n${rest.slice(end)}`;
}
