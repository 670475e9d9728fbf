/** Reads tables of documents. */

/** Returns the cells of the table whose header starts with a word, without the header. */
export function tableRows(text: string, firstHeader: string): string[][] {
  const [, table = ''] = text.split(`\n| ${firstHeader} |`);
  const lines = table.split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
