import { useEffect, useRef, useState } from 'preact/hooks';
import { CsvButton } from './csv.js';
import { useDialog } from './dialog.js';
import { Filters, filterOf } from './filters.js';
import { html } from './html.js';
import { Loaded, readPages, useLoad } from './load.js';
import { recall, remember, settle } from './route.js';
import { Table } from './table.js';
import { View } from './view.js';

/**
 * Makes a view that is a list. `list.read(filter)` answers a page of it, and the `table` shows it. `search` is a form
 * above it; `adjust` changes the filter that it makes. The `button`, and the table's cells by their
 * `act`, open the `Dialog` about what is `asked`. `Above` is shown between form and list.
 */
export function listView({ title, lead, search, button, Above, Dialog, list, table }) {
  return function ListView({ query }) {
    const [round, setRound] = useState(0);
    const { asked, ask: act, done, close } = useDialog(() => setRound(round + 1));
    const { path, fields = [], adjust = (filter) => filter } = search ?? {};
    const filter = search && adjust(filterOf(fields, query));
    const ask = (pageToken) => list.read({ ...filter, pageToken });
    return html`<${View} title=${title} lead=${lead}>
      ${search && html`<${Filters} path=${path} query=${query} fields=${fields} label=${title} />`}
      ${
        button &&
        html`<p><button type="button" class=${button.isMain ? 'main' : ''}
        onClick=${() => act({})}>${button.text}</button></p>`
      }
      ${Above && html`<${Above} query=${query} />`}
      <${Pages} ...${list} ask=${ask} loadKey=${`${query} ${round}`}>
        ${(items) => html`<${Table} ...${table} rows=${items} act=${act} />`}
      <//>
      ${asked && html`<${Dialog} asked=${asked} query=${query} onDone=${done} onClose=${close} />`}
    <//>`;
  };
}

/** After which a list is read again while somebody looks at it. */
const REFRESH_MS = 15_000;

/**
 * A list in pages; `children` is a function of the items read so far. Asks anew whenever `loadKey` changes, and every
 * so often as many pages as are shown. `csv` names the file that all of the list can be exported to.
 */
function Pages({ ask, loadKey, what, empty, csv, children }) {
  const [isMore, setMore] = useState(false);
  const count = useRef();
  count.current ??= recall().pages ?? 1;
  const key = useRef(loadKey);
  if (key.current !== loadKey) count.current = 1;
  key.current = loadKey;
  const pages = useLoad(() => readPages(ask, count.current), loadKey, REFRESH_MS);
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
        ${csv && items.length > 0 && html`<${CsvButton} name=${csv} ask=${ask} />`}
      </div>
      ${
        items.length === 0
          ? html`<p class="empty">${next ? 'Nothing found in the newest rows.' : empty}</p>`
          : children(items)
      }
      ${
        next &&
        html`<p><button type="button" disabled=${isMore}
          onClick=${more}>${isMore ? 'Loading…' : 'Show more'}</button></p>`
      }
    `}
  <//>`;
}

function countOf(count, next) {
  if (count === 0) return '';
  return next ? `The first ${count}` : `${count} found`;
}
