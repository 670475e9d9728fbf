import { useRef, useState } from 'preact/hooks';
import { capture, newKey, release } from '../api.js';
import { Confirm, Dialog } from '../shell/dialog.js';
import { CheckBox, Field } from '../shell/field.js';
import { html } from '../shell/html.js';
import { formatAmount, parseAmount, toDecimal } from '../words/money.js';

/** Asks for an amount, shows it back, and captures it. */
export function CaptureDialog({ hold, onDone, onClose }) {
  const [order, setOrder] = useState();
  return order === undefined
    ? html`<${AmountForm} hold=${hold} onOrder=${setOrder} onClose=${onClose} />`
    : html`<${ConfirmCapture} hold=${hold} order=${order} onDone=${onDone} onClose=${onClose} />`;
}

function AmountForm({ hold, onOrder, onClose }) {
  const { currency, amountRemaining } = hold;
  const form = useRef();
  const [error, setError] = useState();
  const submit = (event) => {
    event.preventDefault();
    const { amountToCapture, finalCapture } = form.current.elements;
    const read = parseAmount(amountToCapture.value, currency, amountRemaining);
    setError(read.error);
    if (read.error) amountToCapture.focus();
    else onOrder({ amount: read.amount, finalCapture: finalCapture.checked, key: newKey() });
  };
  return html`<${Dialog} title="Capture" onClose=${onClose}>
    <form ref=${form} onSubmit=${submit} novalidate>
      <${Field} name="amountToCapture" label="Amount in ${currency}" inputmode="decimal" autofocus
        defaultValue=${toDecimal(amountRemaining, currency)} error=${error}
        hint="${formatAmount(amountRemaining, currency)} remains of the hold." />
      <${CheckBox} name="finalCapture" label="This is the last capture: release what is left" />
      <div class="buttons">
        <button type="button" onClick=${onClose}>Back</button>
        <button type="submit" class="main">Continue</button>
      </div>
    </form>
  <//>`;
}

function ConfirmCapture({ hold, order: { amount, finalCapture, key }, onDone, onClose }) {
  const { requestId, currency, merchantId, amountRemaining } = hold;
  const text = formatAmount(amount, currency);
  const rest = amountRemaining - amount;
  const run = async () => {
    const answer = await capture(requestId, amount, finalCapture, key);
    return answer.status === 'OK'
      ? `${text} captured.`
      : `The capture of ${text} is on its way; its outcome is not known yet.`;
  };
  return html`<${Confirm} title="Capture ${text}?" action="Capture ${text}" run=${run} onDone=${onDone} onClose=${onClose}>
    <p><strong>${text}</strong> is charged to the customer's card for ${merchantId}. This cannot be undone here.</p>
    ${
      rest > 0 &&
      html`<p>${
        finalCapture
          ? `The remaining ${formatAmount(rest, currency)} is released.`
          : `${formatAmount(rest, currency)} remains, unless the contract allows one capture only: then it is released.`
      }</p>`
    }
  <//>`;
}

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
