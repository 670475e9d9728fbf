import { useEffect, useState } from 'preact/hooks';
import { html } from './view.js';

const SHOWN_MS = 10_000;
let show = () => {};

export function notify(text) {
  show({ text });
}

export function Notices() {
  const [notice, setNotice] = useState({ text: '' });
  useEffect(() => {
    show = setNotice;
  }, []);
  useEffect(() => {
    if (!notice.text) return undefined;
    const timer = setTimeout(() => setNotice({ text: '' }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return html`<div class="notices" role="status">${notice.text && html`<p>${notice.text}</p>`}</div>`;
}
