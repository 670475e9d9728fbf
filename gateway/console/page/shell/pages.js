import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { Loaded, useLoad } from './load.js';
import { Problem } from './problem.js';

/**
 * A list that comes in pages. `ask(pageToken)` answers `{ items, nextPageToken }`; `children` is a function of the items read
 * so far. Asks anew whenever `key` changes.
 */
export function Pages({ ask, loadKey, what, empty, children }) {
  const first = useLoad(() => ask(''), loadKey);
  const [later, setLater] = useState(NOTHING);
  useEffect(() => setLater(NOTHING), [first.value]);
  const current = useRef();
  current.current = first.value;
  const more = async (pageToken) => {
    const start = first.value;
    setLater((before) => ({ ...before, busy: true, error: undefined }));
    const page = await ask(pageToken).catch((error) => ({ error, items: [], nextPageToken: pageToken }));
    if (current.current !== start) return;
    const { items, nextPageToken, error } = page;
    setLater((before) => ({ items: [...before.items, ...items], nextPageToken, error, busy: false, isRead: true }));
  };
  return html`<${Loaded} of=${first} what=${what}>
    ${(page) => {
      const items = [...page.items, ...later.items];
      const next = later.isRead ? later.nextPageToken : page.nextPageToken;
      return html`
        <p class="quiet" role="status">${countOf(items.length, next)}</p>
        ${items.length === 0 ? html`<p class="empty">${empty}</p>` : children(items, first.reload)}
        ${later.error && html`<${Problem} error=${later.error} />`}
        ${
          next &&
          html`<p><button type="button" disabled=${later.busy} onClick=${() => more(next)}>
            ${later.busy ? 'Loading…' : 'Show more'}
          </button></p>`
        }
      `;
    }}
  <//>`;
}

const NOTHING = { items: [], nextPageToken: undefined, error: undefined, busy: false, isRead: false };

function countOf(count, next) {
  if (count === 0) return '';
  return next ? `The first ${count}` : `${count} found`;
}
