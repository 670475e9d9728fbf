import { listStored, replayStored } from '../api.js';
import { outcomeOf } from '../deliveries/pause.js';
import { Confirm } from '../shell/dialog.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { Time } from '../words/time.js';
import { Badge, choicesOfWords, Id, said } from '../words/words.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'requestId', label: 'Request ID (with a merchant)' },
  { name: 'state', label: 'State', options: choicesOfWords('PARKED') },
];

const COLUMNS = [
  { name: 'Received', cell: ({ receivedAt }) => html`<${Time} at=${receivedAt} />` },
  { name: 'State', cell: ({ state }) => html`<${Badge} word=${state} />` },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Request ID', cell: ({ requestId }) => html`<${Id} id=${requestId} />` },
  { name: 'Says', cell: said },
  { name: 'Delivery', cell: ({ deliveryId: id }) => html`<${Id} id=${id} of="deliveries" />` },
  {
    name: 'Decide',
    cell: (item, act) =>
      html`<button type="button" aria-label="Replay ${item.requestId}" onClick=${() => act(item)}>Replay…</button>`,
  },
];

/** Notifications that the relay has accepted: where each stands, and the way to forward it once more. */
export const StoredView = listView({
  title: 'Accepted notifications',
  lead:
    'What the relay has verified and accepted. Parked ones are forwarded as soon as the merchant has an internal ' +
    'URL.',
  search: { path: ['notifications'], fields: FIELDS },
  Dialog: Replay,
  list: { read: listStored, what: 'the notifications', csv: 'accepted', empty: 'No notification matches.' },
  table: {
    caption: 'Accepted notifications, newest first',
    columns: COLUMNS,
    keyOf: ({ merchantId, requestId }) => `${merchantId} ${requestId}`,
  },
});

function Replay({ asked: item, onDone, onClose }) {
  const run = async () => {
    await replayStored(item.merchantId, item.requestId);
    return outcomeOf(item.merchantId, 'INTERNAL', 'The notification is forwarded.');
  };
  return html`<${Confirm} title="Forward this notification?" action="Replay" run=${run} onDone=${onDone}
    onClose=${onClose}>
    <p>${item.merchantId}, <code>${item.requestId}</code>: ${said(item)}</p>
    <p>It is forwarded to the merchant's internal endpoint, byte for byte, even if it was forwarded before.</p>
  <//>`;
}
