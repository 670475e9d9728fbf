import { useState } from 'preact/hooks';
import { pathOf, post } from '../api.js';
import { Confirm, Dialog } from '../shell/dialog.js';
import { CheckBox, Field, Form } from '../shell/form.js';
import { html } from '../shell/view.js';
import { formatAmount, parseAmount, toDecimal } from '../words/money.js';
import { momentOf } from '../words/time.js';
import { Said, WordFields, wordsOf } from './said.js';

/** The largest amount of a hold, in minor units. */
const MOST_HELD = 999_999_999_999;

/** Charges what remains of a hold, or a part of it. */
export const captureDialog = ({ requestId, amountRemaining, currency, merchantId }) => ({
  Dialog: AmountDialog,
  verb: 'Capture',
  past: 'captured',
  currency,
  most: amountRemaining,
  initial: amountRemaining,
  hint: `${formatAmount(amountRemaining, currency)} remains of the hold.`,
  option: html`<${CheckBox} name="isLast" label="This is the last capture: release what is left" />`,
  effect: `is charged to the customer's card for ${merchantId}`,
  restOf: ({ amount, isLast }) => {
    const rest = formatAmount(amountRemaining - amount, currency);
    if (amount === amountRemaining) return undefined;
    if (isLast) return `The remaining ${rest} is released.`;
    return `${rest} remains, unless the contract allows one capture only: then it is released.`;
  },
  send: ({ amount, isLast, words }, key) =>
    post(
      pathOf`/holds/${requestId}/capture`,
      { amountToCapture: amount, currency, finalCapture: isLast, ...words },
      key,
    ),
});

export const incrementDialog = ({ requestId, amount: held, currency, merchantId }) => ({
  Dialog: AmountDialog,
  verb: 'Increment',
  past: 'added',
  currency,
  most: MOST_HELD - held,
  hint: `${formatAmount(held, currency)} is held now.`,
  effect: `more is held on the customer's card for ${merchantId}`,
  send: ({ amount, words }, key) =>
    post(pathOf`/holds/${requestId}/increment`, { amountToAdd: amount, currency, ...words }, key),
});

/** Gives a capture, or a part of it, back to the card. */
export const refundDialog = ({ merchantId }, capture) => ({
  Dialog: AmountDialog,
  verb: 'Refund',
  past: 'refunded',
  currency: capture.currency,
  most: refundable(capture),
  initial: refundable(capture),
  hint: `${formatAmount(refundable(capture), capture.currency)} is left of the capture.`,
  effect: `goes from ${merchantId} back to the customer's card`,
  send: ({ amount, words }, key) =>
    post(pathOf`/captures/${capture.requestId}/refund`, { amount, currency: capture.currency, ...words }, key),
});

/** What is left of a capture, minor units. */
export function refundable({ status, amount, amountReversed, amountRefunded }) {
  return status === 'OK' ? Math.max(0, amount - amountReversed - amountRefunded) : 0;
}

/**
 * Asks for an amount of at most `most` minor units, shows it back with its `effect`, and does it with `send`. An order
 * is `{ amount, text, isLast, words }`.
 */
function AmountDialog({ effect, restOf = () => undefined, send, ...form }) {
  const { verb, past, onDone, onClose } = form;
  const [order, setOrder] = useState();
  if (order === undefined) return html`<${AmountForm} ...${form} onDone=${setOrder} />`;
  const { text, words } = order;
  const run = async (_, key) => {
    const { status } = await send(order, key);
    return status === 'OK' ? `${text} ${past}.` : onItsWay(verb, text);
  };
  const body = html`
    <p><strong>${text}</strong> ${effect}. This cannot be undone here.</p>
    <p>${restOf(order)}</p>
    <${Said} words=${words} />
  `;
  return html`<${Confirm} title="${verb} ${text}?" action="${verb} ${text}" body=${body} run=${run}
    onDone=${onDone} onClose=${onClose} />`;
}

function AmountForm({ verb, currency, most, initial, hint, option, onDone, onClose }) {
  const [error, setError] = useState();
  const run = (data, form) => {
    const { amount, error } = parseAmount(data.get('amount'), currency, most);
    setError(error);
    if (error) return form.elements.amount.focus();
    return onDone({ amount, text: formatAmount(amount, currency), isLast: data.has('isLast'), words: wordsOf(data) });
  };
  return html`<${Dialog} title=${verb} onClose=${onClose}>
    <${Form} action="Continue" run=${run} onClose=${onClose} novalidate>
      <${Field} name="amount" label="Amount in ${currency}" inputmode="decimal" autofocus
        defaultValue=${initial && toDecimal(initial, currency)} error=${error} hint=${hint} />
      <${WordFields} />
      ${option}
    <//>
  <//>`;
}

function onItsWay(verb, text) {
  return `The ${verb.toLowerCase()} of ${text} is on its way; its outcome is not known yet.`;
}

export const extendDialog = ({ requestId, expiresAt, merchantId }) => ({
  title: 'Extend the hold?',
  action: 'Extend',
  body: html`<p>
    It ends ${momentOf(expiresAt)} now. It will end after the hold period of ${merchantId} from now, or when the
    processor says.
  </p>`,
  run: (_, key) => post(pathOf`/holds/${requestId}/extend`, {}, key),
  done: (answer) =>
    answer.extensionRequestId
      ? `The hold ends ${momentOf(answer.expiresAt)}.`
      : 'The extension is on its way; its outcome is not known yet.',
});

/** Ends the checkout, or the authentication, of a hold that is not placed yet. */
export const cancelDialog = ({ requestId, phase }) => {
  const isCheckout = phase === 'AWAITING_CHECKOUT';
  return cancelPageDialog(
    requestId,
    isCheckout ? 'checkout' : 'authentication',
    isCheckout ? 'enter a card' : 'confirm',
  );
};

const cancelPageDialog = (requestId, what, does) => ({
  title: `Cancel the ${what}?`,
  action: `Cancel ${what}`,
  tone: 'danger',
  body: `The hold is not placed: the customer cannot ${does} any more.`,
  run: (_, key) => post(pathOf`/holds/${requestId}/release`, {}, key),
  done: ({ amountReleased }) =>
    amountReleased === undefined
      ? `The ${what} is being cancelled; the outcome is not known yet.`
      : `The ${what} is cancelled.`,
});

/** Gives what remains of a hold, or a part of it, back to the customer. */
export const releaseDialog = ({ requestId, amountRemaining, currency, merchantId }) => ({
  Dialog: AmountDialog,
  verb: 'Release',
  past: 'released',
  currency,
  most: amountRemaining,
  initial: amountRemaining,
  hint: `${formatAmount(amountRemaining, currency)} remains of the hold.`,
  effect: `goes back to the customer: ${merchantId} cannot capture it any more`,
  restOf: ({ amount }) => {
    const rest = formatAmount(amountRemaining - amount, currency);
    return amount === amountRemaining ? 'The hold ends.' : `${rest} remains, where the processor gives a part back.`;
  },
  async send({ amount, words }, key) {
    const part = amount === amountRemaining ? {} : { amountToRelease: amount };
    const { amountReleased } = await post(pathOf`/holds/${requestId}/release`, { ...part, currency, ...words }, key);
    // Done, it answers the hold, with a status of its own.
    return { status: amountReleased === undefined ? 'IN_PROGRESS' : 'OK' };
  },
});
