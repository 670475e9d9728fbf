import { Field } from '../shell/form.js';
import { html } from '../shell/view.js';

const LABELS = { reason: 'Reason', merchantReference: "Merchant's reference of it" };
const LENGTHS = { reason: 250, merchantReference: 64 };

/** What may be said of an operation: the merchant gets it with its notification, and it is found by it. */
export function WordFields() {
  return Object.entries(LABELS).map(
    ([name, label]) => html`<${Field} name=${name} label="${label} (optional)" maxlength=${LENGTHS[name]} />`,
  );
}

/** What was said in these fields; nothing of an empty one. */
export function wordsOf(data) {
  const said = Object.keys(LABELS).map((name) => [name, data.get(name).trim()]);
  return Object.fromEntries(said.filter(([, text]) => text !== ''));
}

/** It, as it is shown back before it is sent. */
export function Said({ words }) {
  return Object.entries(words).map(([name, said]) => html`<p class="quiet">${LABELS[name]}: ${said}</p>`);
}
