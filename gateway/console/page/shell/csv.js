import { useState } from 'preact/hooks';
import { notify } from './dialog.js';
import { readPages } from './load.js';
import { html } from './view.js';

/** Pages that one file takes. */
const MOST_PAGES = 200;

/** Reads a whole list and hands it to the browser as a file. */
export function CsvButton({ name, ask }) {
  const [count, setCount] = useState();
  const download = async () => {
    setCount(0);
    try {
      const { items, nextPageToken } = await readPages(ask, MOST_PAGES, setCount);
      save(fileOf(name), csvOf(items));
      const rest = nextPageToken ? ', the newest: narrow the filter for the others' : '';
      notify(`${items.length} rows exported${rest}.`);
    } catch (error) {
      notify(`Not exported: ${error.message}`);
    }
    setCount(undefined);
  };
  return html`<button type="button" disabled=${count !== undefined} onClick=${download}>
    ${count === undefined ? 'Export CSV' : `Reading… ${count}`}
  </button>`;
}

function fileOf(name) {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '');
  return `holdfast-${name.toLowerCase().replaceAll(' ', '-')}-${time}Z.csv`;
}

function save(name, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Items as CSV (RFC 4180), a column for each field, named as the API names it: amounts are minor units, times are UTC.
 * A text that a spreadsheet would run as a formula gets an apostrophe.
 */
function csvOf(items) {
  const rows = items.map((item) => Object.fromEntries(flat(item)));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => cellOf(row[name] ?? '')))];
  // Excel takes a file for UTF-8 by its byte order mark alone.
  return `\u{FEFF}${lines.map((cells) => `${cells.join(',')}\r\n`).join('')}`;
}

function flat(item, prefix = '') {
  return Object.entries(item).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null ? flat(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value]],
  );
}

/**
 * What spreadsheets take for the beginning of a formula, the full-width signs in East Asian locales; also behind what
 * separates cells in some settings.
 */
const FORMULA = /^(?=[=+\-@\t\r\n＝＋－＠])|(?<=[;|\t\r\n]["']*)(?=[=+\-@＝＋－＠])/g;

function cellOf(value) {
  if (typeof value !== 'string') return String(value);
  return value === '' ? '' : `"${value.replaceAll(FORMULA, "'").replaceAll('"', '""')}"`;
}
