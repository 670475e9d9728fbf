import { useEffect, useState } from 'preact/hooks';
import { html } from './html.js';

const SHOWN_MS = 10_000;
const listeners = new Set();

/** Tells the reader that something was done. */
export function notify(text) {
  for (const listener of listeners) listener(text);
}

/** Where that is shown and read out. */
export function Notices() {
  const [notice, setNotice] = useState({ text: '' });
  useEffect(() => {
    const listener = (text) => setNotice({ text });
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  useEffect(() => {
    if (!notice.text) return undefined;
    const timer = setTimeout(() => setNotice({ text: '' }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return html`<div class="notices" role="status">${notice.text && html`<p>${notice.text}</p>`}</div>`;
}
