import { useRef, useState } from 'preact/hooks';
import { capture, extend, increment, newKey, refund, release } from '../api.js';
import { Confirm, Dialog } from '../shell/dialog.js';
import { CheckBox, Field } from '../shell/field.js';
import { html } from '../shell/html.js';
import { formatAmount, parseAmount, toDecimal } from '../words/money.js';
import { momentOf } from '../words/time.js';

/** The largest amount of a hold, in minor units. */
const MOST_HELD = 999_999_999_999;

/** Charges what remains of a hold, or a part of it. */
export function CaptureDialog({ hold, onDone, onClose }) {
  const { requestId, amountRemaining, currency, merchantId } = hold;
  const restOf = ({ amount, isChecked }) => {
    const rest = formatAmount(amountRemaining - amount, currency);
    if (isChecked) return `The remaining ${rest} is released.`;
    return `${rest} remains, unless the contract allows one capture only: then it is released.`;
  };
  return html`<${AmountDialog} verb="Capture" past="captured" currency=${currency} most=${amountRemaining}
    initial=${amountRemaining}
    hint="${formatAmount(amountRemaining, currency)} remains of the hold."
    option="This is the last capture: release what is left"
    send=${({ amount, isChecked, key }) => capture(requestId, amount, isChecked, key)}
    effect=${({ text }) => html`<strong>${text}</strong> is charged to the customer's card for ${merchantId}.`}
    restOf=${(order) => order.amount < amountRemaining && restOf(order)} onDone=${onDone} onClose=${onClose} />`;
}

export function IncrementDialog({ hold, onDone, onClose }) {
  const { requestId, amount: held, currency, merchantId } = hold;
  return html`<${AmountDialog} verb="Increment" past="added" currency=${currency} most=${MOST_HELD - held}
    hint="${formatAmount(held, currency)} is held now."
    send=${({ amount, key }) => increment(requestId, amount, key)}
    effect=${({ text }) => html`<strong>${text}</strong> more is held on the customer's card for ${merchantId}.`}
    onDone=${onDone} onClose=${onClose} />`;
}

/** Gives a capture, or a part of it, back to the card. */
export function RefundDialog({ hold, of, onDone, onClose }) {
  const left = refundable(of);
  const { currency } = of;
  return html`<${AmountDialog} verb="Refund" past="refunded" currency=${currency} most=${left} initial=${left}
    hint="${formatAmount(left, currency)} is left of the capture."
    send=${({ amount, key }) => refund(of.requestId, amount, key)}
    effect=${({ text }) => html`<strong>${text}</strong> goes from ${hold.merchantId} back to the customer's card.`}
    onDone=${onDone} onClose=${onClose} />`;
}

/** What is left of a capture, minor units. */
export function refundable({ status, amount, amountReversed, amountRefunded }) {
  return status === 'OK' ? amount - amountReversed - amountRefunded : 0;
}

/** Asks for an amount, shows it back, and does it with `send`. An order is `{ amount, text, isChecked, key }`. */
function AmountDialog({ effect, restOf = () => false, send, ...form }) {
  const { verb, past, onDone, onClose } = form;
  const [order, setOrder] = useState();
  if (order === undefined) return html`<${AmountForm} ...${form} onOrder=${setOrder} />`;
  const { text } = order;
  const run = async () => {
    const { status } = await send(order);
    return status === 'OK' ? `${text} ${past}.` : onItsWay(verb, text);
  };
  const rest = restOf(order);
  return html`<${Confirm} title="${verb} ${text}?" action="${verb} ${text}" run=${run} onDone=${onDone}
    onClose=${onClose}>
    <p>${effect(order)} This cannot be undone here.</p>
    ${rest && html`<p>${rest}</p>`}
  <//>`;
}

function AmountForm({ verb, currency, most, initial, hint, option, onOrder, onClose }) {
  const form = useRef();
  const [error, setError] = useState();
  const submit = (event) => {
    event.preventDefault();
    const { amount, option: box } = form.current.elements;
    const read = parseAmount(amount.value, currency, most);
    setError(read.error);
    if (read.error) return amount.focus();
    const text = formatAmount(read.amount, currency);
    onOrder({ amount: read.amount, text, isChecked: box?.checked ?? false, key: newKey() });
  };
  return html`<${Dialog} title=${verb} onClose=${onClose}>
    <form ref=${form} onSubmit=${submit} novalidate>
      <${Field} name="amount" label="Amount in ${currency}" inputmode="decimal" autofocus
        defaultValue=${initial && toDecimal(initial, currency)} error=${error} hint=${hint} />
      ${option && html`<${CheckBox} name="option" label=${option} />`}
      <div class="buttons">
        <button type="button" onClick=${onClose}>Back</button>
        <button type="submit" class="main">Continue</button>
      </div>
    </form>
  <//>`;
}

function onItsWay(verb, text) {
  return `The ${verb.toLowerCase()} of ${text} is on its way; its outcome is not known yet.`;
}

/** Lets a hold end later. */
export function ExtendDialog({ hold, onDone, onClose }) {
  const { requestId, expiresAt, merchantId } = hold;
  const key = useRef(newKey());
  const run = async () => {
    const answer = await extend(requestId, key.current);
    if (answer.extensionRequestId === undefined) return 'The extension is on its way; its outcome is not known yet.';
    return `The hold ends ${momentOf(answer.expiresAt)}.`;
  };
  return html`<${Confirm} title="Extend the hold?" action="Extend" run=${run} onDone=${onDone} onClose=${onClose}>
    <p>
      It ends ${momentOf(expiresAt)} now. It will end after the hold period of ${merchantId} from now, or when the
      processor says.
    </p>
  <//>`;
}

/** Gives back what remains of a hold, once somebody said yes. */
export function ReleaseDialog({ hold, onDone, onClose }) {
  const { requestId, amountRemaining, currency, merchantId, placedAt } = hold;
  const text = formatAmount(amountRemaining, currency);
  const key = useRef(newKey());
  const run = async () => {
    const answer = await release(requestId, key.current);
    return answer.amountReleased === undefined ? onItsWay('Release', text) : `${text} released.`;
  };
  return html`<${Confirm} title="Release ${text}?" action="Release ${text}" isDangerous run=${run} onDone=${onDone}
    onClose=${onClose}>
    ${
      placedAt
        ? html`<p>The customer gets <strong>${text}</strong> back. ${merchantId} cannot capture it any more.</p>`
        : html`<p>The open checkout is cancelled: the customer cannot enter a card any more.</p>`
    }
  <//>`;
}
