import { html } from '../shell/html.js';
import { Time } from '../shell/table.js';

export function Attempts({ attempts }) {
  if (attempts.length === 0) return html`<p class="quiet">No attempt yet.</p>`;
  return html`<ol class="attempts">
    ${attempts.map(
      ({ number, startedAt, latencyMs, httpStatus, error, url, responseHead }) => html`<li key=${number}>
        <p>
          <span>Attempt ${number}</span> <${Time} at=${startedAt} />
          <span class=${error ? 'error' : 'good'}>${httpStatus ? `HTTP ${httpStatus}` : 'no answer'}</span>
          <span class="quiet">${latencyMs} ms</span>
        </p>
        ${url && html`<p class="quiet">${url}</p>`}
        ${error && html`<p class="error">${error}</p>`}
        ${responseHead && html`<details><summary>Start of the response</summary><pre>${responseHead}</pre></details>`}
      </li>`,
    )}
  </ol>`;
}
