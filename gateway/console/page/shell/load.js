import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.js';
import { Problem } from './view.js';

/**
 * Asks for something, again whenever `key` changes, when `reload` is called, and every so often. What was shown stays
 * while it is asked for again; an answer to an older question is dropped. A page that nobody looks at asks for nothing,
 * and a question that has no answer yet is not asked again: an answer that takes long must be able to arrive. `at` is
 * when the value was answered.
 */
export function useLoad(ask, key, everyMs) {
  const [known, setKnown] = useState({});
  const current = known.key === key ? known : { key, busy: true };
  const latest = useRef({ number: 0 });
  latest.current.ask = ask;
  latest.current.known = current;
  const reload = useCallback(async () => {
    const { current: question } = latest;
    question.number += 1;
    const own = question.number;
    const tell = (change) => own === question.number && setKnown({ ...question.known, ...change });
    tell({ busy: true });
    try {
      const value = await question.ask();
      tell({ value, error: undefined, at: Date.now(), busy: false });
    } catch (error) {
      tell({ error, busy: false });
    }
  }, [key]);
  useEffect(() => {
    reload();
    return () => {
      latest.current.number += 1;
    };
  }, [reload]);
  useEffect(() => {
    if (!everyMs) return undefined;
    const ask = () => document.visibilityState === 'visible' && !latest.current.known.busy && reload();
    const timer = setInterval(ask, everyMs);
    document.addEventListener('visibilitychange', ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', ask);
    };
  }, [reload, everyMs]);
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
