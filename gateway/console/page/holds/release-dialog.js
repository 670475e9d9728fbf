import { useRef } from 'preact/hooks';
import { release } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { html } from '../shell/html.js';
import { newKey } from '../shell/new-key.js';
import { formatAmount } from '../words/money.js';

/** Gives back what remains of a hold, once somebody said yes. */
export function ReleaseDialog({ hold, onDone, onClose }) {
  const { requestId, amountRemaining, currency, merchantId, placedAt } = hold;
  const text = formatAmount(amountRemaining, currency);
  const key = useRef(newKey());
  const run = async () => {
    const answer = await release(requestId, key.current);
    if (answer.amountReleased === undefined)
      return `The release of ${text} is on its way; its outcome is not known yet.`;
    return `${text} released.`;
  };
  return html`<${Confirm} title="Release ${text}?" action="Release ${text}" isDangerous run=${run} onDone=${onDone} onClose=${onClose}>
    ${
      placedAt
        ? html`<p>The customer gets <strong>${text}</strong> back. ${merchantId} cannot capture it any more.</p>`
        : html`<p>The open checkout is cancelled: the customer cannot enter a card any more.</p>`
    }
  <//>`;
}
