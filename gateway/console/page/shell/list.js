import { get } from '../api.js';
import { CsvButton } from './csv.js';
import { useDialog } from './dialog.js';
import { Filters, filterOf } from './filters.js';
import { Loaded, usePages } from './load.js';
import { Table } from './table.js';
import { html, View } from './view.js';

/** After which a list is read again while somebody looks at it. */
const REFRESH_MS = 15_000;

/**
 * Makes a view that is a list: `from` a route that answers it page by page, its `columns`, and which of a row's fields
 * is its key. `fields` are those of a search form above it; what can be searched can be exported. The `button` opens a
 * dialog; `Above` is shown between form and list.
 */
export function listView({ lead, ...list }) {
  const { title, fields } = list;
  return function ListView({ query }) {
    return html`<${View} title=${title} lead=${lead}>
      ${fields && html`<${Filters} query=${query} fields=${fields} label=${title} />`}
      <${List} ...${list} key=${String(query)} query=${query} />
    <//>`;
  };
}

function List({ query, title, order = 'newest first', from, fields, button, Above, empty, columns, keyOf }) {
  const filter = fields && filterOf(fields, query);
  const read = (pageToken) => get(from, { ...filter, pageToken });
  const pages = usePages(read, REFRESH_MS);
  const { ask, dialog } = useDialog(pages.reload);
  return html`
    ${button && html`<${Button} ...${button} onClick=${() => ask(button.dialog(query))} />`}
    ${Above && html`<${Above} filter=${filter} />`}
    <${Loaded} of=${pages} what=${title}>
      ${({ items, nextPageToken: next }) => html`
        <div class="count">
          <p class="quiet" role="status">${countOf(items.length, next)}</p>
          ${fields && items.length > 0 && html`<${CsvButton} name=${title} ask=${read} />`}
        </div>
        ${
          items.length === 0
            ? html`<p class="empty">${next ? 'Nothing found in the newest rows.' : empty}</p>`
            : html`<${Table} caption="${title}, ${order}" columns=${columns} rows=${items} keyOf=${keyOf} ask=${ask} />`
        }
        ${next && html`<${MoreButton} of=${pages} text="Show more" />`}
      `}
    <//>
    ${dialog}
  `;
}

/** Asks for the next page. */
export function MoreButton({ of: { isMore, more }, text }) {
  return html`<${Button} disabled=${isMore} text=${isMore ? 'Loading…' : text} onClick=${more} />`;
}

function Button({ text, tone, ...rest }) {
  return html`<p><button type="button" class=${tone} ...${rest}>${text}</button></p>`;
}

function countOf(count, next) {
  if (count === 0) return '';
  return next ? `The first ${count}` : `${count} found`;
}
