import { html } from '../shell/html.js';
import { formatAmount } from '../words/money.js';

const PARTS = [
  ['amountCaptured', 'Captured', 'good'],
  ['amountInFlight', 'In flight', 'wait'],
  ['amountRemaining', 'Remaining', 'rest'],
  ['amountReleased', 'Released', 'calm'],
];

/** How a hold's amount is divided: amount = captured + in flight + remaining + released. */
export function AmountBar({ hold }) {
  const { amount, currency } = hold;
  let x = 0;
  return html`
    <svg class="division" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      ${PARTS.map(([field, , tone]) => {
        const width = ((hold[field] ?? 0) / amount) * 100;
        const start = x;
        x += width;
        return width > 0 && html`<rect class=${tone} x=${start} y="0" width=${width} height="4" />`;
      })}
    </svg>
    <dl class="parts">
      ${PARTS.map(
        ([field, name, tone]) => html`<div>
          <dt><span class="key ${tone}"></span> ${name}</dt>
          <dd>${formatAmount(hold[field] ?? 0, currency)}</dd>
        </div>`,
      )}
    </dl>
    ${hold.amountReversed > 0 && html`<p class="hint">${formatAmount(hold.amountReversed, currency)} of what was captured was reversed.</p>`}
  `;
}
