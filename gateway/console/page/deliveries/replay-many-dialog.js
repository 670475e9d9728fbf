import { replayDeliveries } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { Field, Select } from '../shell/field.js';
import { html } from '../shell/html.js';
import { choicesOf, ENDPOINTS } from '../words/words.js';

/** Sends the deliveries of a merchant that have ended again, oldest first and spread over time. */
export function ReplayManyDialog({ query, onDone, onClose }) {
  const run = (form) => {
    const { merchantId, endpointKind, state, createdFrom, createdTo } = Object.fromEntries(form);
    return replayDeliveries({
      ...{ merchantId: merchantId.trim(), endpointKind, state },
      ...{ createdFrom: momentOf(createdFrom), createdTo: momentOf(createdTo) },
    });
  };
  return html`<${Confirm} title="Replay many deliveries" action="Replay" run=${run} onDone=${onDone} onClose=${onClose}>
    <p>Each keeps its webhook-id, so a receiver that heeds it does nothing twice.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${query.get('merchantId') ?? ''} autofocus />
    <${Select} name="endpointKind" label="Endpoint" value=${query.get('endpointKind')} options=${[['', 'Both'], ...choicesOf(ENDPOINTS)]} />
    <${Select} name="state" label="Which" options=${[['DEAD', 'Dead: every attempt failed'], ['DELIVERED', 'Delivered before']]} />
    <${Field} name="createdFrom" type="datetime-local" label="Created from (UTC)" />
    <${Field} name="createdTo" type="datetime-local" label="Created before (UTC)" />
  <//>`;
}

function momentOf(local) {
  return local ? new Date(`${local}Z`).toISOString() : undefined;
}
