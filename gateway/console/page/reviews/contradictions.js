import { Time } from '../shell/table.js';
import { html } from '../shell/view.js';
import { sidesOf, titleOf } from '../words/contradictions.js';

/** What is open, in a dialog or a card: what an operator decides about. */
export function Contradictions({ of: contradictions = [] }) {
  if (contradictions.length === 0) return null;
  return html`<ul class="lines" aria-label="What the processor contradicted">
    ${contradictions.map(
      (one) => html`<li key=${one.contradictionId}>
        <${Time} at=${one.at} /> <strong>${titleOf(one)}</strong>
        <p class="quiet">${sidesOf(one)}</p>
      </li>`,
    )}
  </ul>`;
}

/** Those that nobody has resolved. */
export const openOf = (contradictions = []) => contradictions.filter(({ resolvedAt }) => !resolvedAt);
