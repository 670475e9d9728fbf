import { html } from './html.js';

/** Says why something did not work, in the words of the service. */
export function Problem({ error, retry }) {
  const { title, detail, code, errors = [], requestId, processorMessage } = error;
  return html`<div class="problem" role="alert">
    <p><strong>${title ?? 'The console has a fault'}</strong></p>
    ${(detail ?? error.message) !== title && html`<p>${detail ?? error.message}</p>`}
    ${processorMessage && html`<p>The processor says: ${processorMessage}</p>`}
    ${
      errors.length > 0 &&
      html`<ul>
        ${errors.map(({ field, message }) => html`<li><code>${field}</code>: ${message}</li>`)}
      </ul>`
    }
    ${
      (code || requestId) &&
      html`<p class="quiet">${[code, requestId && `operation ${requestId}`].filter(Boolean).join(' · ')}</p>`
    }
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}
