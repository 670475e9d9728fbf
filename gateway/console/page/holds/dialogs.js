import { useState } from 'preact/hooks';
import { newKey, pathOf, post } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { CheckBox, Field } from '../shell/form.js';
import { html } from '../shell/html.js';
import { formatAmount, parseAmount, toDecimal } from '../words/money.js';
import { momentOf } from '../words/time.js';

/** The largest amount of a hold, in minor units. */
const MOST_HELD = 999_999_999_999;

/** Charges what remains of a hold, or a part of it. */
export function captureDialog({ requestId, amountRemaining, currency, merchantId }) {
  const remaining = formatAmount(amountRemaining, currency);
  const restOf = ({ amount, isLast }) => {
    const rest = formatAmount(amountRemaining - amount, currency);
    if (isLast) return `The remaining ${rest} is released.`;
    return `${rest} remains, unless the contract allows one capture only: then it is released.`;
  };
  return {
    Dialog: AmountDialog,
    verb: 'Capture',
    past: 'captured',
    currency,
    most: amountRemaining,
    initial: amountRemaining,
    hint: `${remaining} remains of the hold.`,
    option: html`<${CheckBox} name="isLast" label="This is the last capture: release what is left" />`,
    effect: ({ text }) => html`<strong>${text}</strong> is charged to the customer's card for ${merchantId}.`,
    restOf: (order) => order.amount < amountRemaining && restOf(order),
    send: ({ amount, isLast, key }) =>
      post(pathOf`/holds/${requestId}/capture`, { amountToCapture: amount, finalCapture: isLast }, key),
  };
}

export function incrementDialog({ requestId, amount: held, currency, merchantId }) {
  return {
    Dialog: AmountDialog,
    verb: 'Increment',
    past: 'added',
    currency,
    most: MOST_HELD - held,
    hint: `${formatAmount(held, currency)} is held now.`,
    effect: ({ text }) => html`<strong>${text}</strong> more is held on the customer's card for ${merchantId}.`,
    send: ({ amount, key }) => post(pathOf`/holds/${requestId}/increment`, { amountToAdd: amount }, key),
  };
}

/** Gives a capture, or a part of it, back to the card. */
export function refundDialog({ merchantId }, capture) {
  const left = refundable(capture);
  const { requestId, currency } = capture;
  return {
    Dialog: AmountDialog,
    verb: 'Refund',
    past: 'refunded',
    currency,
    most: left,
    initial: left,
    hint: `${formatAmount(left, currency)} is left of the capture.`,
    effect: ({ text }) => html`<strong>${text}</strong> goes from ${merchantId} back to the customer's card.`,
    send: ({ amount, key }) => post(pathOf`/captures/${requestId}/refund`, { amount }, key),
  };
}

/** What is left of a capture, minor units. */
export function refundable({ status, amount, amountReversed, amountRefunded }) {
  return status === 'OK' ? amount - amountReversed - amountRefunded : 0;
}

/**
 * Asks for an amount from 1 to `most` minor units, shows it back with its `effect`, and does it with `send`. An order is
 * `{ amount, text, isLast, key }`.
 */
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
  const body = html`<p>${effect(order)} This cannot be undone here.</p>
    ${rest && html`<p>${rest}</p>`}`;
  return html`<${Confirm} title="${verb} ${text}?" action="${verb} ${text}" ...${{ body, run, onDone, onClose }} />`;
}

function AmountForm({ verb, currency, most, initial, hint, option, onOrder, onClose }) {
  const [error, setError] = useState();
  const run = (data, form) => {
    const read = parseAmount(data.get('amount'), currency, most);
    setError(read.error);
    if (read.error) return form.elements.amount.focus();
    const text = formatAmount(read.amount, currency);
    return { amount: read.amount, text, isLast: data.has('isLast'), key: newKey() };
  };
  const onDone = (order) => order && onOrder(order);
  const body = html`
    <${Field} name="amount" label="Amount in ${currency}" inputmode="decimal" autofocus
      defaultValue=${initial && toDecimal(initial, currency)} error=${error} hint=${hint} />
    ${option}
  `;
  return html`<${Confirm} title=${verb} action="Continue" novalidate ...${{ body, run, onDone, onClose }} />`;
}

function onItsWay(verb, text) {
  return `The ${verb.toLowerCase()} of ${text} is on its way; its outcome is not known yet.`;
}

/** Lets a hold end later. */
export function extendDialog({ requestId, expiresAt, merchantId }) {
  const key = newKey();
  return {
    title: 'Extend the hold?',
    action: 'Extend',
    body: html`<p>
      It ends ${momentOf(expiresAt)} now. It will end after the hold period of ${merchantId} from now, or when the
      processor says.
    </p>`,
    run: async () => {
      const answer = await post(pathOf`/holds/${requestId}/extend`, {}, key);
      if (answer.extensionRequestId === undefined) return 'The extension is on its way; its outcome is not known yet.';
      return `The hold ends ${momentOf(answer.expiresAt)}.`;
    },
  };
}

/** Gives back what remains of a hold. */
export function releaseDialog({ requestId, amountRemaining, currency, merchantId, placedAt }) {
  const text = formatAmount(amountRemaining, currency);
  const key = newKey();
  return {
    title: `Release ${text}?`,
    action: `Release ${text}`,
    tone: 'danger',
    body: placedAt
      ? html`<p>The customer gets <strong>${text}</strong> back. ${merchantId} cannot capture it any more.</p>`
      : html`<p>The open checkout is cancelled: the customer cannot enter a card any more.</p>`,
    run: async () => {
      const answer = await post(pathOf`/holds/${requestId}/release`, {}, key);
      return answer.amountReleased === undefined ? onItsWay('Release', text) : `${text} released.`;
    },
  };
}
