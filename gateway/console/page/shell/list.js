import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../api.js';
import { CsvButton } from './csv.js';
import { useDialog } from './dialog.js';
import { Filters, filterOf } from './filters.js';
import { html } from './html.js';
import { Loaded, readPages, useLoad } from './load.js';
import { place, settle } from './route.js';
import { Table } from './table.js';
import { View } from './view.js';

/**
 * Makes a view that is a list: `from` a route that answers it page by page, its `columns`, and which of a row's fields
 * is its key. `fields` are those of a search form above it; what can be searched can be exported. The `button` opens a
 * dialog; `Above` is shown between form and list.
 */
export function listView({ title, lead, order = 'newest first', from, fields, button, Above, empty, columns, keyOf }) {
  return function ListView({ query }) {
    const [round, setRound] = useState(0);
    const { ask, dialog } = useDialog(() => setRound(round + 1));
    const filter = fields && filterOf(fields, query);
    const read = (pageToken) => get(from, { ...filter, pageToken });
    return html`<${View} title=${title} lead=${lead}>
      ${fields && html`<${Filters} query=${query} fields=${fields} label=${title} />`}
      ${button && html`<${Button} ...${button} onClick=${() => ask(button.dialog(query))} />`}
      ${Above && html`<${Above} filter=${filter} />`}
      <${Pages} read=${read} loadKey=${`${query} ${round}`} title=${title} empty=${empty} isExported=${fields}>
        ${(rows) => html`<${Table} caption="${title}, ${order}" columns=${columns} rows=${rows}
          keyOf=${keyOf} ask=${ask} />`}
      <//>
      ${dialog}
    <//>`;
  };
}

/** After which a list is read again while somebody looks at it. */
const REFRESH_MS = 15_000;

/**
 * A list in pages; `children` is a function of the items read so far. Asks anew whenever `loadKey` changes, and every
 * so often as many pages as are shown.
 */
function Pages({ read, loadKey, title, empty, isExported, children }) {
  const [isMore, setMore] = useState(false);
  const count = useRef();
  count.current ??= place.pages ?? 1;
  const key = useRef(loadKey);
  if (key.current !== loadKey) count.current = 1;
  key.current = loadKey;
  const pages = useLoad(() => readPages(read, count.current), loadKey, REFRESH_MS);
  useEffect(() => {
    if (pages.value) settle();
  }, [pages.value]);
  const more = async () => {
    count.current += 1;
    place.pages = count.current;
    setMore(true);
    await pages.reload();
    setMore(false);
  };
  return html`<${Loaded} of=${pages} what=${title}>
    ${({ items, nextPageToken: next }) => html`
      <div class="count">
        <p class="quiet" role="status">${countOf(items.length, next)}</p>
        ${isExported && items.length > 0 && html`<${CsvButton} name=${title} ask=${read} />`}
      </div>
      ${items.length > 0 && children(items)}
      ${items.length === 0 && html`<p class="empty">${next ? 'Nothing found in the newest rows.' : empty}</p>`}
      ${next && html`<${Button} disabled=${isMore} text=${isMore ? 'Loading…' : 'Show more'} onClick=${more} />`}
    `}
  <//>`;
}

export function Button({ text, tone, ...rest }) {
  return html`<p><button type="button" class=${tone} ...${rest}>${text}</button></p>`;
}

function countOf(count, next) {
  if (count === 0) return '';
  return next ? `The first ${count}` : `${count} found`;
}
