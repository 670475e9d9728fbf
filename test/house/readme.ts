/** What the README says, in pieces that tests can use. */
import { readFile } from 'node:fs/promises';

/** The text. */
export const README: string = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

/** The cells of the table whose header starts with a word, without the header. */
export function tableRows(firstHeader: string): string[][] {
  const [, table = ''] = README.split(`\n| ${firstHeader} |`);
  const lines = table.split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
