import { listDeliveries, replayDeliveries } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { Field, Select } from '../shell/field.js';
import { dateFields, filterOf } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { Time } from '../words/time.js';
import { Badge, choicesOfWords, ENDPOINTS, Id } from '../words/words.js';
import { readPauses, waitingFor } from './pause.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'endpointKind', label: 'Endpoint', options: Object.entries(ENDPOINTS) },
  { name: 'state', label: 'State', options: choicesOfWords('PENDING', 'DELIVERED', 'DEAD') },
  { name: 'requestId', label: 'Request ID' },
  ...dateFields('created', 'Created'),
];

const COLUMNS = [
  { name: 'Delivery', cell: ({ deliveryId }) => html`<${Id} id=${deliveryId} of="deliveries" />` },
  { name: 'State', cell: ({ state }) => html`<${Badge} word=${state} />` },
  { name: 'About', cell: ({ kind, statusInfo }) => `${kind.toLowerCase()} ${statusInfo}` },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Endpoint', cell: ({ endpointKind }) => ENDPOINTS[endpointKind] ?? endpointKind },
  { name: 'Attempts', isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  { name: 'Next attempt', cell: ({ dueAt }) => html`<${Time} at=${dueAt} />` },
];

/** Deliveries, searched, and sent again by the many. */
export const DeliveriesView = listView({
  title: 'Deliveries',
  search: { path: ['deliveries'], fields: FIELDS },
  button: { text: 'Replay many…' },
  Dialog: ReplayMany,
  list: { read: listDeliveries, what: 'deliveries', csv: 'deliveries', empty: 'No delivery matches.' },
  table: { caption: 'Deliveries, newest first', columns: COLUMNS, keyOf: ({ deliveryId }) => deliveryId },
});

/** Sends the deliveries of a merchant that have ended again, oldest first and spread over time. */
function ReplayMany({ query, onDone, onClose }) {
  const run = async (form) => {
    const { endpointKind, ...filter } = filterOf(FIELDS, form);
    const merchantId = filter.merchantId.trim();
    const { replayedCount, more } = await replayDeliveries({ ...filter, merchantId, endpointKind });
    const pauses = (await readPauses(merchantId)).filter((each) => !endpointKind || each.endpointKind === endpointKind);
    const noun = replayedCount === 1 ? 'delivery is' : 'deliveries are';
    const sent = `${replayedCount} ${noun} sent again${more ? '; more match' : ''}.`;
    return [sent, ...pauses.map(waitingFor)].join(' ');
  };
  return html`<${Confirm} title="Replay many deliveries" action="Replay" run=${run} onDone=${onDone} onClose=${onClose}>
    <p>Each keeps its webhook-id, so a receiver that heeds it does nothing twice.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${query.get('merchantId') ?? ''} autofocus />
    <${Select} name="endpointKind" label="Endpoint" value=${query.get('endpointKind')}
      options=${[['', 'Both'], ...Object.entries(ENDPOINTS)]} />
    <${Select} name="state" label="Which"
      options=${[['DEAD', 'Dead: every attempt failed'], ['DELIVERED', 'Delivered before']]} />
    <${Field} name="createdFrom" type="datetime-local" label="Created since" step="1"
      defaultValue=${query.get('createdFrom') ?? ''} />
    <${Field} name="createdTo" type="datetime-local" label="Created before" step="1"
      defaultValue=${query.get('createdTo') ?? ''} />
  <//>`;
}
