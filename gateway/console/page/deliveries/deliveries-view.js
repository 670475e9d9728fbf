import { useState } from 'preact/hooks';
import { listDeliveries } from '../api.js';
import { dateFields, dateFilter } from '../shell/date-filter.js';
import { Filters } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { notify } from '../shell/notice.js';
import { Pages } from '../shell/pages.js';
import { linkTo } from '../shell/route.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';
import { Badge, choicesOf, choicesOfWords, ENDPOINTS, Id } from '../words/words.js';
import { ReplayManyDialog } from './replay-many-dialog.js';

const DATES = ['createdFrom', 'createdTo'];

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'endpointKind', label: 'Endpoint', options: choicesOf(ENDPOINTS) },
  { name: 'state', label: 'State', options: choicesOfWords('PENDING', 'DELIVERED', 'DEAD') },
  { name: 'requestId', label: 'Request ID' },
  ...dateFields(DATES, 'Created'),
];

const COLUMNS = [
  {
    name: 'Delivery',
    cell: ({ deliveryId }) => html`<${Id} id=${deliveryId} href=${linkTo(['deliveries', deliveryId])} />`,
  },
  { name: 'State', cell: ({ state }) => html`<${Badge} word=${state} />` },
  { name: 'About', cell: ({ kind, statusInfo }) => `${kind.toLowerCase()} ${statusInfo}` },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Endpoint', cell: ({ endpointKind }) => ENDPOINTS[endpointKind] ?? endpointKind },
  { name: 'Attempts', isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  { name: 'Next attempt', cell: ({ dueAt }) => html`<${Time} at=${dueAt} />` },
];

/** Deliveries, searched, and sent again by the many. */
export function DeliveriesView({ query }) {
  const [isAsking, setAsking] = useState(false);
  const [round, setRound] = useState(0);
  const text = query.toString();
  const ask = (pageToken) => listDeliveries({ ...dateFilter(Object.fromEntries(query), DATES), pageToken });
  const done = (text) => {
    setAsking(false);
    setRound(round + 1);
    notify(text);
  };
  return html`<${View} title="Deliveries">
    <${Filters} path=${['deliveries']} query=${query} fields=${FIELDS} label="Deliveries" />
    <p><button type="button" onClick=${() => setAsking(true)}>Replay many…</button></p>
    <${Pages} ask=${ask} loadKey=${`${text} ${round}`}
      what="deliveries" csv="deliveries" empty="No delivery matches.">
      ${(items) => html`<${Table} caption="Deliveries, newest first" columns=${COLUMNS} rows=${items} keyOf=${({ deliveryId }) => deliveryId} />`}
    <//>
    ${isAsking && html`<${ReplayManyDialog} query=${query} onDone=${done} onClose=${() => setAsking(false)} />`}
  <//>`;
}
