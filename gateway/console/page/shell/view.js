import htm from 'htm';
import { h } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

/** Builds what is shown from a template. Whatever is put into it becomes text or an attribute, never markup. */
export const html = htm.bind(h);

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

export function Section({ title, beside, children }) {
  const id = useId();
  return html`<section aria-labelledby=${id}>
    <div class="heading"><h2 id=${id}>${title}</h2>${beside}</div>
    ${children}
  </section>`;
}

export function Problem({ error, retry }) {
  const { title, code, errors = [], requestId, processorMessage } = error;
  const detail = error.detail ?? error.message;
  const source = [code, requestId && `operation ${requestId}`].filter(Boolean).join(' · ');
  return html`<div class="problem" role="alert">
    <p><strong>${title ?? 'The console has a fault'}</strong></p>
    ${detail !== title && html`<p>${detail}</p>`}
    ${processorMessage && html`<p>The processor says: ${processorMessage}</p>`}
    <ul>${errors.map(({ field, message }) => html`<li><code>${field}</code>: ${message}</li>`)}</ul>
    ${source && html`<p class="quiet">${source}</p>`}
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}
