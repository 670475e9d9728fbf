import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { Problem } from './view.js';

/**
 * Asks for something, again whenever `key` changes, when `reload` is called, and every so often. What was shown stays
 * while it is asked for again; an answer to an older question is dropped. A page that nobody looks at asks for nothing,
 * and a question that has no answer yet is not asked again: an answer that takes long must be able to arrive. `at` is
 * when the value was answered.
 */
export function useLoad(ask, key, everyMs = 0) {
  const [known, setKnown] = useState({ key, busy: true });
  const latest = useRef(0);
  const question = useRef(ask);
  const isBusy = useRef(true);
  question.current = ask;
  const reload = useCallback(async () => {
    latest.current += 1;
    const own = latest.current;
    const tell = (change) =>
      own === latest.current && setKnown((before) => ({ ...before, ...change, key, busy: false }));
    setKnown((before) => (before.key === key ? { ...before, busy: true } : { key, busy: true }));
    try {
      const value = await question.current();
      tell({ value, error: undefined, at: Date.now() });
    } catch (error) {
      tell({ error });
    }
  }, [key]);
  useEffect(() => {
    reload();
    return () => {
      latest.current += 1;
    };
  }, [reload]);
  useEffect(() => {
    if (everyMs === 0) return undefined;
    const ask = () => document.visibilityState === 'visible' && !isBusy.current && reload();
    const timer = setInterval(ask, everyMs);
    document.addEventListener('visibilitychange', ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', ask);
    };
  }, [reload, everyMs]);
  const current = known.key === key ? known : { busy: true };
  isBusy.current = current.busy;
  return { ...current, reload };
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
