import { useState } from 'preact/hooks';
import { csvOf } from './csv.js';
import { html } from './html.js';
import { notify } from './notice.js';
import { readPages } from './read-pages.js';

/** Pages that one file takes. */
const MOST_PAGES = 200;

/** Reads a whole list and hands it to the browser as a file. */
export function CsvButton({ name, ask }) {
  const [count, setCount] = useState();
  const download = async () => {
    setCount(0);
    try {
      const { items, nextPageToken } = await readPages(ask, MOST_PAGES, setCount);
      save(`holdfast-${name}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}Z.csv`, csvOf(items));
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

function save(name, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
