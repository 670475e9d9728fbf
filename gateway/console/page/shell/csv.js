/**
 * Items as CSV (RFC 4180), a column for each field, named as the API names it: amounts are minor units, times are UTC. A text that a
 * spreadsheet would run as a formula gets an apostrophe.
 */
export function csvOf(items) {
  const rows = items.map((item) => flat(item));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function flat(item, prefix = '') {
  return Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null
        ? Object.entries(flat(value, `${prefix}${name}.`))
        : [[`${prefix}${name}`, value]],
    ),
  );
}

function cellOf(value) {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
