import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../api.js';
import { CsvButton } from './csv.js';
import { useDialog } from './dialog.js';
import { Filters, filterOf } from './filters.js';
import { html } from './html.js';
import { Loaded, readPages, useLoad } from './load.js';
import { recall, remember, settle } from './route.js';
import { Table } from './table.js';
import { View } from './view.js';

/**
 * Makes a view that is a list: `what` it lists, `from` a route that answers it page by page, its `columns`, and which
 * of a row's fields is its key. `fields` are those of a search form above it, and `csv` names the file that all of it
 * can be exported to. The `button` opens a dialog; `Above` is shown between form and list.
 */
export function listView({ title, lead, what, order = 'newest first', fields, button, Above, ...list }) {
  const { from, columns, keyOf, empty, csv } = list;
  return function ListView({ query }) {
    const [round, setRound] = useState(0);
    const { ask, dialog } = useDialog(() => setRound(round + 1));
    const filter = fields && filterOf(fields, query);
    const read = (pageToken) => get(from, { ...filter, pageToken });
    return html`<${View} title=${title} lead=${lead}>
      ${fields && html`<${Filters} query=${query} fields=${fields} label=${title} />`}
      ${button && html`<${Button} ...${button} onClick=${() => ask(button.dialog(query))} />`}
      ${Above && html`<${Above} filter=${filter} />`}
      <${Pages} read=${read} loadKey=${`${query} ${round}`} what=${what} empty=${empty} csv=${csv}>
        ${(rows) => html`<${Table} caption="${what}, ${order}" ...${{ columns, rows, keyOf, ask }} />`}
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
function Pages({ read, loadKey, what, empty, csv, children }) {
  const [isMore, setMore] = useState(false);
  const count = useRef();
  count.current ??= recall().pages ?? 1;
  const key = useRef(loadKey);
  if (key.current !== loadKey) count.current = 1;
  key.current = loadKey;
  const pages = useLoad(() => readPages(read, count.current), loadKey, REFRESH_MS);
  useEffect(() => {
    if (pages.value) settle();
  }, [pages.value]);
  const more = async () => {
    count.current += 1;
    remember({ pages: count.current });
    setMore(true);
    await pages.reload();
    setMore(false);
  };
  return html`<${Loaded} of=${pages} what=${what}>
    ${({ items, nextPageToken: next }) => html`
      <div class="count">
        <p class="quiet" role="status">${countOf(items.length, next)}</p>
        ${csv && items.length > 0 && html`<${CsvButton} name=${csv} ask=${read} />`}
      </div>
      ${items.length > 0 && children(items)}
      ${items.length === 0 && html`<p class="empty">${next ? 'Nothing found in the newest rows.' : empty}</p>`}
      ${next && html`<${Button} disabled=${isMore} text=${isMore ? 'Loading…' : 'Show more'} onClick=${more} />`}
    `}
  <//>`;
}

/** A button on a line of its own. */
export function Button({ text, tone, ...rest }) {
  return html`<p><button type="button" class=${tone} ...${rest}>${text}</button></p>`;
}

function countOf(count, next) {
  if (count === 0) return '';
  return next ? `The first ${count}` : `${count} found`;
}
