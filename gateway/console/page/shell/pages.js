import { useEffect, useRef, useState } from 'preact/hooks';
import { CsvButton } from './csv-button.js';
import { html } from './html.js';
import { Loaded, useLoad } from './load.js';
import { recall, remember, settle } from './place.js';
import { readPages } from './read-pages.js';

/** After which a list is read again while somebody looks at it. */
const REFRESH_MS = 15_000;

/**
 * A list that comes in pages. `ask(pageToken)` answers `{ items, nextPageToken }`; `children` is a function of the items read
 * so far. Asks anew whenever `key` changes, and every so often as many pages as are shown. `csv` names the file that all of the
 * list can be exported to.
 */
export function Pages({ ask, loadKey, what, empty, csv, children }) {
  const [isMore, setMore] = useState(false);
  const count = useRef();
  count.current ??= recall().pages ?? 1;
  const key = useRef(loadKey);
  if (key.current !== loadKey) count.current = 1;
  key.current = loadKey;
  const list = useLoad(() => readPages(ask, count.current), loadKey, REFRESH_MS);
  useEffect(() => {
    if (list.value) settle();
  }, [list.value]);
  const more = async () => {
    count.current += 1;
    remember({ pages: count.current });
    setMore(true);
    await list.reload();
    setMore(false);
  };
  return html`<${Loaded} of=${list} what=${what}>
    ${({ items, nextPageToken: next }) => html`
      <div class="count">
        <p class="quiet" role="status">${countOf(items.length, next)}</p>
        ${csv && items.length > 0 && html`<${CsvButton} name=${csv} ask=${ask} />`}
      </div>
      ${items.length === 0 ? html`<p class="empty">${empty}</p>` : children(items, list.reload)}
      ${
        next &&
        html`<p><button type="button" disabled=${isMore} onClick=${more}>${isMore ? 'Loading…' : 'Show more'}</button></p>`
      }
    `}
  <//>`;
}

function countOf(count, next) {
  if (count === 0) return '';
  return next ? `The first ${count}` : `${count} found`;
}
