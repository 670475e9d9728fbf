import { replayDeliveries } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { Field, Select } from '../shell/field.js';
import { html } from '../shell/html.js';
import { momentIn } from '../words/time.js';
import { choicesOf, ENDPOINTS } from '../words/words.js';
import { readPauses, waitingFor } from './pause.js';

/** Sends the deliveries of a merchant that have ended again, oldest first and spread over time. */
export function ReplayManyDialog({ query, onDone, onClose }) {
  const run = async (form) => {
    const { merchantId, endpointKind, state, createdFrom, createdTo } = Object.fromEntries(form);
    const { replayedCount, more } = await replayDeliveries({
      ...{ merchantId: merchantId.trim(), endpointKind, state },
      ...{ createdFrom: momentIn(createdFrom), createdTo: momentIn(createdTo) },
    });
    const pauses = (await readPauses(merchantId.trim())).filter(
      (each) => !endpointKind || each.endpointKind === endpointKind,
    );
    const sent = `${replayedCount} ${replayedCount === 1 ? 'delivery is' : 'deliveries are'} sent again${more ? '; more match' : ''}.`;
    return [sent, ...pauses.map(waitingFor)].join(' ');
  };
  return html`<${Confirm} title="Replay many deliveries" action="Replay" run=${run} onDone=${onDone} onClose=${onClose}>
    <p>Each keeps its webhook-id, so a receiver that heeds it does nothing twice.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${query.get('merchantId') ?? ''} autofocus />
    <${Select} name="endpointKind" label="Endpoint" value=${query.get('endpointKind')} options=${[['', 'Both'], ...choicesOf(ENDPOINTS)]} />
    <${Select} name="state" label="Which" options=${[['DEAD', 'Dead: every attempt failed'], ['DELIVERED', 'Delivered before']]} />
    <${Field} name="createdFrom" type="datetime-local" label="Created since" step="1" defaultValue=${query.get('createdFrom') ?? ''} />
    <${Field} name="createdTo" type="datetime-local" label="Created before" step="1" defaultValue=${query.get('createdTo') ?? ''} />
  <//>`;
}
