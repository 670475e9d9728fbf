import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { place, settle } from './route.js';
import { html, Problem } from './view.js';

/**
 * Asks for something, again when `reload` is called, and every so often. What was shown stays while it is asked for
 * again; an answer to an older question is dropped. A page that nobody looks at asks for nothing, and a question that
 * has no answer yet is not asked again: an answer that takes long must be able to arrive. `at` is when the value was
 * answered.
 */
export function useLoad(ask, everyMs) {
  const [known, setKnown] = useState({ busy: true });
  const { current: latest } = useRef({ number: 0 });
  Object.assign(latest, { ask, busy: known.busy });
  const reload = useCallback(async () => {
    latest.number += 1;
    const own = latest.number;
    const tell = (change) => own === latest.number && setKnown((before) => ({ ...before, ...change }));
    tell({ busy: true });
    try {
      const value = await latest.ask();
      tell({ value, error: undefined, at: Date.now(), busy: false });
    } catch (error) {
      tell({ error, busy: false });
    }
  }, []);
  useEffect(() => {
    reload();
    if (!everyMs) return undefined;
    const again = () => document.visibilityState === 'visible' && !latest.busy && reload();
    const timer = setInterval(again, everyMs);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, []);
  return { ...known, reload };
}

/** As many pages of a list as the reader has seen here, as one. `more` asks for another one. */
export function usePages(ask, everyMs) {
  const [isMore, setMore] = useState(false);
  const pages = useLoad(() => readPages(ask, place.pages), everyMs);
  useEffect(() => {
    if (pages.value) settle();
  }, [pages.value]);
  const more = async () => {
    place.pages += 1;
    setMore(true);
    await pages.reload();
    setMore(false);
  };
  return { ...pages, isMore, more };
}

/** Shows what was loaded, or that it is being loaded, or why it was not. `children` is a function of the value. */
export function Loaded({ of: { value, error, busy, reload }, what, children }) {
  return html`
    ${error && html`<${Problem} error=${error} retry=${reload} />`}
    ${value === undefined && !error && html`<p class="loading" role="status">Loading ${what}…</p>`}
    ${value !== undefined && html`<div class="loaded" aria-busy=${busy}>${children(value)}</div>`}
  `;
}

/** The first pages of a list as one, at most `count`, with what the last of them says besides its items. */
export async function readPages(ask, count, onRead = () => {}) {
  const items = [];
  let page = {};
  for (let read = 0; read < count; read += 1) {
    page = await ask(page.nextPageToken);
    items.push(...page.items);
    onRead(items.length);
    if (!page.nextPageToken) break;
  }
  return { ...page, items };
}
