import { useEffect, useRef } from 'preact/hooks';
import { html } from './html.js';

/** A view with its heading. A reader who came by a link starts at the heading, as on a new page. */
export function View({ title, lead, children }) {
  const heading = useRef();
  useEffect(() => {
    document.title = `${title} · Holdfast`;
  }, [title]);
  useEffect(() => {
    if (View.isShown) heading.current.focus({ preventScroll: true });
    View.isShown = true;
  }, []);
  return html`<h1 ref=${heading} tabindex="-1">${title}</h1>
    ${lead && html`<p class="lead">${lead}</p>`}
    ${children}`;
}
